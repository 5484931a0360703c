# Installation and packages. `cmake --install DIR --prefix P` leaves LibTorch where it lies; with CUSET_BUNDLE_TORCH=ON
# its processor libraries travel along, and `cpack -G TGZ` or `cpack -G DEB` in the build folder makes a package that
# runs on another Debian 12.

# The program looks for its modules in ../lib/cuset: see core/io/columnar_file.cpp.
set(CMAKE_INSTALL_LIBDIR lib)
include(GNUInstallDirs)
option(CUSET_BUNDLE_TORCH "Install LibTorch's processor libraries beside the program" OFF)

set(programs)
foreach(program cuset cuset-studio)
  if(TARGET ${program})
    list(APPEND programs ${program})
  endif()
endforeach()
if(CUSET_BUNDLE_TORCH)
  set(torch_rpath "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}/cuset/torch/lib")
else()
  set(torch_rpath ${CUSET_TORCH_DIR}/lib)
endif()
if(programs)
  set_target_properties(${programs} PROPERTIES INSTALL_RPATH "${torch_rpath}")
  install(TARGETS ${programs} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(programs AND CUSET_BUNDLE_TORCH)
  install(DIRECTORY ${CUSET_TORCH_DIR}/lib/ DESTINATION lib/cuset/torch/lib
          FILES_MATCHING PATTERN "libtorch_cpu.so" PATTERN "libc10.so" PATTERN "libgomp*.so*" PATTERN "libshm*" EXCLUDE)
  # Where torch_cpu's own RPATH finds them.
  install(DIRECTORY ${CUSET_TORCH_DIR}/../nvidia DESTINATION lib/cuset
          FILES_MATCHING PATTERN "libcudart.so*" PATTERN "libcupti.so*" PATTERN "include" EXCLUDE)
endif()
if(TARGET cuset_columnar)
  set_target_properties(cuset_columnar PROPERTIES INSTALL_RPATH "$ORIGIN/arrow")
  install(TARGETS cuset_columnar LIBRARY DESTINATION lib/cuset)
  install(FILES ${CUSET_ARROW_LIBRARY} ${CUSET_PARQUET_LIBRARY} DESTINATION lib/cuset/arrow)
endif()

set(extras ${CMAKE_SOURCE_DIR}/packaging/install)
install(FILES ${extras}/cuset.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${extras}/cuset.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME cuset)
if(TARGET cuset-studio)
  install(FILES ${extras}/cuset-studio.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${extras}/cuset-studio.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
  install(FILES ${extras}/cuset-studio.metainfo.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo)
  install(FILES ${CMAKE_SOURCE_DIR}/resources/icons/cuset-studio.svg
          DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
endif()
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/resources/samples DESTINATION ${CMAKE_INSTALL_DATADIR}/cuset)

set(CPACK_PACKAGE_NAME cuset-studio)
set(CPACK_PACKAGE_VENDOR "The CuSeT Studio authors")
set(CPACK_PACKAGE_CONTACT "The CuSeT Studio authors")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR TGZ)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libpcre2-8-0, libutf8proc2, libqt6charts6, libqt6svg6, libqt6network6, \
libqt6concurrent6, libqscintilla2-qt6-15, qt6-qpa-plugins")
include(CPack)
