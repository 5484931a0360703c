// CudaLexer: QScintilla's C++ lexer with CUDA's words and colours that stay readable on painted
// tokens.
#pragma once

#include <vector>

#include <Qsci/qscilexercpp.h>

#include <QColor>
#include <QFont>
#include <QPalette>

namespace cuset {

class CudaLexer : public QsciLexerCPP {
    Q_OBJECT
public:
    explicit CudaLexer(QObject* parent = nullptr);

    const char* language() const override { return "CUDA"; }
    const char* keywords(int set) const override;
    void applyTheme(const QPalette& palette, const QFont& font);
    // Every colour that text can have, for contrast.
    static std::vector<QColor> textColors(const QPalette& palette);
};

} // namespace cuset
