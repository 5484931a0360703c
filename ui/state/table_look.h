// What the tables of all panels have in common.
#pragma once

#include <QTableView>

namespace cuset {

// Striped rows of one height without grid, frame, row numbers or wrapped text; Tab leaves the
// table.
void applyTableLook(QTableView* table);

} // namespace cuset
