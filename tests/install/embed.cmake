# Builds examples/embed.cc as a project of its own and runs it. WAY is `installed` (found in a prefix
# that weir was installed to) or `subdirectory` (weir is a folder of the host).
cmake_minimum_required(VERSION 3.25)
set(ENV{DESTDIR})
set(prefix ${WORK}/prefix)
set(build ${WORK}/${WAY})
file(REMOVE_RECURSE ${build})

function(run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${what} failed (${result}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

set(configure ${CMAKE_COMMAND} -G ${GENERATOR} -B ${build} -DCMAKE_CXX_COMPILER=${COMPILER}
              -DCMAKE_BUILD_TYPE=Release)
if(WAY STREQUAL "installed")
  file(REMOVE_RECURSE ${prefix})
  run("installing" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix} --component devel)
  run("configuring" ${configure} -S ${SOURCE}/examples -DCMAKE_PREFIX_PATH=${prefix}
      -DCMAKE_FIND_PACKAGE_PREFER_CONFIG=ON)
  set(program ${build}/embed)
else()
  # The flags of the build around, so that ccache knows every object.
  run("configuring" ${configure} -S ${SOURCE}/tests/install/subdirectory -DWEIR_SOURCE=${SOURCE}
      -DWEIR_WERROR=${WERROR})
  set(program ${build}/examples/embed)
endif()
run("building" ${CMAKE_COMMAND} --build ${build} --target embed --parallel 2)
run("running" ${program})

# 500 different values in 200 000 tuples; the pump took the value 7 two hundred times.
foreach(expected
        "\"synopsis\":\"HyperLogLog\"[^\n]*\"kind\":\"ad-hoc\",\"n\":200000,\"estimate\":[45][0-9][0-9]"
        "\"synopsis\":\"CountMin\"[^\n]*\"kind\":\"ad-hoc\",\"n\":100000,\"estimate\":[234][0-9][0-9],"
        "200000 tuples, 200000 applied")
  if(NOT output MATCHES "${expected}")
    message(FATAL_ERROR "the program's output lacks ${expected}:\n${output}")
  endif()
endforeach()

# The example plug-in as a project of its own.
if(WAY STREQUAL "installed")
  run("configuring the plug-in" ${CMAKE_COMMAND} -G ${GENERATOR} -B ${build}/plugin
      -S ${SOURCE}/examples/plugin -DCMAKE_PREFIX_PATH=${prefix}
      -DCMAKE_FIND_PACKAGE_PREFER_CONFIG=ON)
  run("building the plug-in" ${CMAKE_COMMAND} --build ${build}/plugin)
  if(NOT EXISTS ${build}/plugin/top_k.so)
    message(FATAL_ERROR "there is no plug-in:\n${output}")
  endif()
endif()
message(STATUS "${WAY}: built and run")
file(REMOVE_RECURSE ${build})
