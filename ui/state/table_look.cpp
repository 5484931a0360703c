#include "ui/state/table_look.h"

#include <QHeaderView>

namespace cuset {

void applyTableLook(QTableView* table) {
    table->setShowGrid(false);
    table->setAlternatingRowColors(true);
    table->setWordWrap(false);
    table->setTabKeyNavigation(false);
    table->setFrameShape(QFrame::NoFrame);
    table->verticalHeader()->hide();
    table->verticalHeader()->setDefaultSectionSize(table->fontMetrics().height() * 3 / 2);
}

} // namespace cuset
