#include "core/report/report_style.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/base/sha256.h"

namespace cuset {
namespace {

constexpr std::array<Rgb, 18> cividis{{{0x00, 0x20, 0x4c},
                                       {0x00, 0x2a, 0x66},
                                       {0x00, 0x34, 0x6e},
                                       {0x27, 0x3f, 0x6c},
                                       {0x3c, 0x4a, 0x6b},
                                       {0x4c, 0x55, 0x6b},
                                       {0x5b, 0x5f, 0x6d},
                                       {0x68, 0x6a, 0x70},
                                       {0x75, 0x75, 0x75},
                                       {0x83, 0x81, 0x78},
                                       {0x92, 0x8c, 0x78},
                                       {0xa1, 0x98, 0x76},
                                       {0xb0, 0xa5, 0x72},
                                       {0xc0, 0xb1, 0x6d},
                                       {0xd1, 0xbf, 0x66},
                                       {0xe1, 0xcc, 0x5c},
                                       {0xf3, 0xdb, 0x4f},
                                       {0xff, 0xe9, 0x45}}};

Rgb paper_color(bool dark) {
    return dark ? Rgb{0x14, 0x17, 0x1c} : Rgb{0xff, 0xff, 0xff};
}

std::string hex(Rgb color) {
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "#%02x%02x%02x", color[0], color[1], color[2]);
    return text.data();
}

std::string step_classes(bool dark) {
    std::string css;
    for (int step = 0; step < confidence_steps; ++step)
        css += ".c" + std::to_string(step) + "{background:" + hex(step_color(step, dark))
            + ";fill:" + hex(step_color(step, dark)) + "}";
    return css + '\n';
}

constexpr const char* light_variables =
    R"(:root{color-scheme:light dark;--paper:#ffffff;--text:#1b1f24;--muted:#59616b;--grid:#e2e5e9;
--card:#f5f6f8;--sensitive:#b85a00;--neutral:#1f6fb5;--warn:#b8281c;--accent:#8a2a78;--rest:#9db4cc;--low:#b8281c}
)";
constexpr const char* dark_variables =
    R"(:root{--paper:#14171c;--text:#e8eaed;--muted:#a3abb5;--grid:#2c323a;--card:#1c2027;
--sensitive:#f2a54a;--neutral:#6bb1f0;--warn:#ff7a6b;--accent:#e58fd0;--rest:#4a6480;--low:#ff7a6b}
)";

constexpr const char* page_rules = R"(*{box-sizing:border-box}
body{margin:0 auto;max-width:1180px;padding:2rem 1.5rem 4rem;background:var(--paper);color:var(--text);
font:15px/1.5 system-ui,"Segoe UI","Noto Sans","DejaVu Sans",sans-serif}
h1{font-size:1.75rem;margin:0}h2{font-size:1.25rem;margin:2.6rem 0 .4rem;padding-top:.8rem;border-top:1px solid var(--grid)}
h3{font-size:1rem;margin:0 0 .2rem;overflow-wrap:anywhere}
p{margin:.35rem 0;max-width:78ch}p.lead,p.note,figcaption,caption{color:var(--muted);font-size:.88rem}
a{color:var(--neutral)}nav{margin:.8rem 0}nav a{margin-right:1.1rem}
code{font-family:ui-monospace,"DejaVu Sans Mono","Liberation Mono",monospace;font-size:.92em;overflow-wrap:anywhere}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(240px,1fr));gap:.7rem;margin:1.2rem 0}
.card{background:var(--card);border-radius:8px;padding:.7rem .9rem}
.card b{display:block;font-size:1.4rem;font-weight:600;font-variant-numeric:tabular-nums;white-space:nowrap}
.card span{display:block;color:var(--muted);font-size:.82rem;line-height:1.3}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(420px,1fr));gap:1.2rem 1.8rem;align-items:start;margin:.8rem 0}
.pair.three{grid-template-columns:repeat(auto-fit,minmax(300px,1fr))}
.pair>*{min-width:0}
figure{margin:0}figcaption{margin-top:.2rem}
.scroll{overflow-x:auto;margin:.9rem 0}
table{border-collapse:collapse;font-size:.88rem;font-variant-numeric:tabular-nums}
caption{text-align:left;padding-bottom:.3rem}
th,td{padding:.22rem .9rem .22rem 0;text-align:right;border-bottom:1px solid var(--grid);vertical-align:baseline;white-space:nowrap}
th{font-weight:600}th:first-child,td:first-child{text-align:left}
td.id{white-space:normal;overflow-wrap:anywhere;min-width:12rem;max-width:24rem}
table.facts td{text-align:left;white-space:normal;overflow-wrap:anywhere}
article{margin:1.8rem 0 2.6rem}
article>p{margin-bottom:.6rem}
)";
constexpr const char* chart_rules =
    R"(svg{display:block;width:100%;height:auto;max-width:600px;font:12px system-ui,"Segoe UI","Noto Sans","DejaVu Sans",sans-serif}
svg text{fill:var(--text)}svg .tick,svg .upright{fill:var(--muted);font-variant-numeric:tabular-nums}
svg .upright{font-family:ui-monospace,"DejaVu Sans Mono","Liberation Mono",monospace;font-size:10px}
svg .title{fill:var(--muted)}svg .number{fill:var(--text)}
svg .grid{stroke:var(--grid)}svg .axis{stroke:var(--muted)}
svg .line{fill:none;stroke-width:1.8;stroke-linejoin:round}svg .area{stroke:none;fill-opacity:.16}
svg .rule{stroke-width:1.4;stroke-dasharray:5 3}
svg .rest{fill:var(--rest)}svg .band{fill:var(--low);fill-opacity:.13}
svg .sensitive{stroke:var(--sensitive)}svg .neutral{stroke:var(--neutral)}svg .warn{stroke:var(--warn)}
svg .accent{stroke:var(--accent)}svg .plain{stroke:var(--text)}
svg .bar{stroke:none}svg .bar.sensitive,svg .area.sensitive,svg text.sensitive{fill:var(--sensitive);stroke:none}
svg .bar.neutral,svg .area.neutral,svg text.neutral{fill:var(--neutral);stroke:none}
svg .area{stroke:none}svg text.warn{fill:var(--warn);stroke:none}svg text.accent{fill:var(--accent);stroke:none}
svg text.plain{stroke:none}svg text.note{paint-order:stroke;stroke:var(--paper);stroke-width:4px;stroke-linejoin:round}svg .mark{fill:var(--paper);stroke-width:2}svg .solid{stroke-dasharray:none}
.key{display:inline-block;width:1.5em;height:0;border-top:3px solid;vertical-align:middle;margin:0 .35em 0 0}
.keys span.name{margin-right:1.2em;white-space:nowrap}
.key.sensitive{color:var(--sensitive)}.key.neutral{color:var(--neutral)}.key.warn{color:var(--warn)}
.key.accent{color:var(--accent)}.key.plain{color:var(--text)}
)";
constexpr const char* code_rules =
    R"(pre{margin:.6rem 0 0;padding:.8rem 1rem;border:1px solid var(--grid);border-radius:8px;overflow-x:auto;tab-size:4;
font:13px/1.62 ui-monospace,"DejaVu Sans Mono","Liberation Mono",monospace}
pre span{border-bottom:2px solid transparent;print-color-adjust:exact;-webkit-print-color-adjust:exact}
pre span:hover{outline:1px solid var(--text)}
pre .k{border-bottom:2px dotted var(--neutral)}pre .s{border-bottom:2px solid var(--sensitive)}
pre i{color:var(--warn);font-style:normal}pre u{text-decoration:none;font-size:.85em}
.legend{display:flex;flex-wrap:wrap;align-items:center;gap:.3rem 1.4rem;font-size:.85rem;margin:.6rem 0}
.legend .ramp{display:flex}.legend .ramp span{width:14px;height:16px;print-color-adjust:exact;-webkit-print-color-adjust:exact}
.legend .u{padding:0 .2em}.legend .u.k{border-bottom:2px dotted var(--neutral)}.legend .u.s{border-bottom:2px solid var(--sensitive)}
)";
constexpr const char* print_rules =
    R"(@media print{body{max-width:none;padding:0;font-size:10pt}nav{display:none}figure,tr,.card{break-inside:avoid}
h2,h3{break-after:avoid}pre{white-space:pre-wrap;overflow-wrap:anywhere;font-size:7.5pt}.scroll{overflow:visible}
.pair{grid-template-columns:1fr 1fr}}
)";

} // namespace

int confidence_step(float confidence) {
    const float inside = confidence > 0 ? std::min(confidence, 1.0f) : 0.0f;
    return static_cast<int>(std::lround(inside * static_cast<float>(confidence_steps - 1)));
}

Rgb step_color(int step, bool dark) {
    const double position = static_cast<double>(std::clamp(step, 0, confidence_steps - 1))
        / (confidence_steps - 1) * (cividis.size() - 1);
    const auto index = std::min(static_cast<std::size_t>(position), cividis.size() - 2);
    const double within = position - static_cast<double>(index);
    const double strength = dark ? 0.40 : 0.52;
    const Rgb paper = paper_color(dark);
    Rgb mixed{};
    for (std::size_t c = 0; c < 3; ++c) {
        const double map = (1 - within) * cividis[index][c] + within * cividis[index + 1][c];
        mixed[c] =
            static_cast<std::uint8_t>(std::lround(strength * map + (1 - strength) * paper[c]));
    }
    return mixed;
}

Rgb text_color(bool dark) {
    return dark ? Rgb{0xe8, 0xea, 0xed} : Rgb{0x1b, 0x1f, 0x24};
}

std::string stylesheet() {
    return std::string(light_variables) + step_classes(false) + page_rules + chart_rules
        + code_rules + "@media screen and (prefers-color-scheme:dark){" + dark_variables
        + step_classes(true) + "}\n" + print_rules;
}

std::string policy_hash(const std::string& text) {
    Sha256 sha;
    sha.update(std::string_view(text));
    const std::string digest = sha.hex_digest();
    std::array<unsigned, 33> bytes{}; // 32 and one 0 to fill the last group of three
    for (std::size_t i = 0; i < 32; ++i)
        bytes[i] = static_cast<unsigned>(std::stoul(digest.substr(2 * i, 2), nullptr, 16));
    static constexpr const char* letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out = "sha256-";
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const unsigned group = bytes[i] << 16 | bytes[i + 1] << 8 | bytes[i + 2];
        for (const int shift : {18, 12, 6, 0})
            out += letters[group >> shift & 63];
    }
    out.back() = '=';
    return out;
}

} // namespace cuset
