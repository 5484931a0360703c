# Imports Apache Arrow and Parquet from a folder that holds include/, libarrow.so.N and libparquet.so.N (a PyPI
# pyarrow wheel's pyarrow/ folder). Target: arrow::parquet.

file(GLOB CUSET_ARROW_LIBRARY ${CUSET_ARROW_DIR}/libarrow.so.*00)
file(GLOB CUSET_PARQUET_LIBRARY ${CUSET_ARROW_DIR}/libparquet.so.*00)
if(NOT CUSET_ARROW_LIBRARY OR NOT CUSET_PARQUET_LIBRARY OR NOT EXISTS ${CUSET_ARROW_DIR}/include/arrow/api.h)
  message(FATAL_ERROR "Arrow: no include/arrow/api.h, libarrow.so.N and libparquet.so.N in "
                      "CUSET_ARROW_DIR='${CUSET_ARROW_DIR}'. Run packaging/setup --arrow, or leave it empty.")
endif()
add_library(arrow::arrow SHARED IMPORTED)
set_target_properties(arrow::arrow PROPERTIES
  IMPORTED_LOCATION ${CUSET_ARROW_LIBRARY}
  INTERFACE_INCLUDE_DIRECTORIES ${CUSET_ARROW_DIR}/include)
add_library(arrow::parquet SHARED IMPORTED)
set_target_properties(arrow::parquet PROPERTIES
  IMPORTED_LOCATION ${CUSET_PARQUET_LIBRARY}
  INTERFACE_LINK_LIBRARIES arrow::arrow)
