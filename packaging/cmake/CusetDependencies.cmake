# Third-party libraries. Versions and hashes are pinned in packaging/dependencies.txt.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8>=10.40)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
if(CUSET_ENGINE)
  include(CusetTorch)
endif()
if(CUSET_ARROW_DIR)
  include(CusetArrow)
endif()
if(CUSET_UI)
  find_package(Qt6 6.4 REQUIRED COMPONENTS Core Gui Widgets Charts Concurrent Svg Network)
  find_path(QSCINTILLA_INCLUDE_DIR Qsci/qsciscintilla.h PATHS /usr/include/x86_64-linux-gnu/qt6
            PATH_SUFFIXES qt6 REQUIRED)
  find_library(QSCINTILLA_LIBRARY qscintilla2_qt6 REQUIRED)
  add_library(qscintilla UNKNOWN IMPORTED)
  set_target_properties(qscintilla PROPERTIES
    IMPORTED_LOCATION ${QSCINTILLA_LIBRARY}
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${QSCINTILLA_INCLUDE_DIR})
endif()
if(CUSET_TESTS)
  find_package(GTest REQUIRED)
endif()
