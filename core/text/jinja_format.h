// Python's two ways to format text: "..." % values and "...".format(values), as far as templates
// use them.
#pragma once

#include <string>

#include "core/text/jinja_interpreter.h"

namespace cuset::jinja {

// printf style: %s %r %d %i %f %e %g %x %o %c %% with flags, width, precision and %(name)s.
std::string format_percent(Interpreter& interpreter, const std::string& format,
                           const Arguments& arguments);

// str.format: {} {0} {name} {name.attribute} {name[item]} with
// [[fill]align][sign][0][width][,][.precision][type].
std::string format_braces(Interpreter& interpreter, const std::string& format,
                          const Arguments& arguments);

} // namespace cuset::jinja
