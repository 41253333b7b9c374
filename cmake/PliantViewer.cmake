# The viewer's page: bundled with Node at build time, compiled into the binary. Without Node it is left out.
option(PLIANT_VIEWER "Build the page of 'pliant view' (needs Node.js and npm)" ON)
find_program(PLIANT_NODE NAMES node nodejs)
find_program(PLIANT_NPM npm)

set(viewer_dir ${PROJECT_BINARY_DIR}/viewer)
set(viewer_source ${viewer_dir}/assets.cpp)
set(PLIANT_HAS_VIEWER OFF CACHE INTERNAL "the page is part of this build")
if(PLIANT_VIEWER AND PLIANT_NODE AND PLIANT_NPM)
  set(PLIANT_HAS_VIEWER ON CACHE INTERNAL "the page is part of this build")
  file(GLOB viewer_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/viewer/*.* ${PROJECT_SOURCE_DIR}/viewer/.npmrc
       ${PROJECT_SOURCE_DIR}/viewer/src/* ${PROJECT_SOURCE_DIR}/viewer/test/*)
  add_custom_command(
    OUTPUT ${viewer_source}
    COMMAND ${CMAKE_COMMAND} -DNODE=${PLIANT_NODE} -DNPM=${PLIANT_NPM} -DWITH_TOOLS=${PLIANT_TESTS}
            -DSOURCE=${PROJECT_SOURCE_DIR}/viewer -DBUILD=${viewer_dir} -DOUTPUT=${viewer_source}
            -P ${PROJECT_SOURCE_DIR}/cmake/BuildViewer.cmake
    DEPENDS ${viewer_files} ${PROJECT_SOURCE_DIR}/cmake/BuildViewer.cmake
    COMMENT "Bundling the viewer's page" VERBATIM)
else()
  message(STATUS "pliant view: left out of this build (it needs Node.js and npm, and PLIANT_VIEWER=ON)")
  file(WRITE ${viewer_dir}/none.cpp.new
       "#include \"pliant/show/server.hpp\"\nstd::span<const pliant::ViewerAsset> pliant::viewer_assets() { return {}; }\n")
  configure_file(${viewer_dir}/none.cpp.new ${viewer_dir}/none.cpp COPYONLY)
  set(viewer_source ${viewer_dir}/none.cpp)
endif()
