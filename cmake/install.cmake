# Installation: the library, the headers for users under include/croze, a CMake package and a
# pkg-config file.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/croze)

install(TARGETS croze EXPORT croze-targets)
set(CROZE_PC_RPATH)
if(TARGET croze_linked_llvm)
  install(TARGETS croze_linked_llvm DESTINATION ${CMAKE_INSTALL_LIBDIR})
  set(CROZE_PC_RPATH "-Wl,-rpath,\${libdir}")
endif()
install(EXPORT croze-targets NAMESPACE croze:: DESTINATION ${package_dir})

# What users include, and all that these headers include.  Nothing else is installed.
set(public_headers
  croze/croze.h
  croze/base/options.h
  croze/export/export.h
  croze/export/onnx.h
  croze/export/webgpu.h
  croze/io/checkpoint.h
  croze/io/gguf/gguf.h
  croze/io/idx.h
  croze/io/image.h
  croze/io/npy.h
  croze/io/onnx/captured.h
  croze/io/onnx/model.h
  croze/io/pytorch/pytorch.h
  croze/io/safetensors.h
  croze/jit/capture.h
  croze/jit/checkpoint.h
  croze/jit/dim.h
  croze/jit/scan.h
  croze/llm/generate/conversation.h
  croze/llm/generate/language_model.h
  croze/llm/sampling/sampler.h
  croze/llm/serve/api.h
  croze/llm/template/chat_template.h
  croze/llm/tokenizer/tokenizer.h
  croze/llm/train/gpt_training.h
  croze/llm/train/model_file.h
  croze/log/progress.h
  croze/log/run.h
  croze/nn/nn.h
  croze/prepared/prepared_step.h
  croze/run/statistics.h
  croze/run/trace/trace.h
  croze/tensor/custom_gradient.h)
set(pending ${public_headers})
while(pending)
  list(POP_FRONT pending header)
  file(STRINGS ${header} includes REGEX "^#include \"croze/")
  list(TRANSFORM includes REPLACE "^#include \"(.*)\".*" "\\1")
  list(REMOVE_ITEM includes ${public_headers})
  list(APPEND public_headers ${includes})
  list(APPEND pending ${includes})
endwhile()
foreach(header IN LISTS public_headers)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
endforeach()

# The libraries of picture formats that this build found.
list(JOIN CROZE_PICTURE_PACKAGES " " CROZE_PICTURE_PACKAGES)
list(JOIN CROZE_PICTURE_MODULES " " CROZE_PICTURE_MODULES)

configure_package_config_file(cmake/croze-config.cmake.in croze-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(croze-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/croze-config.cmake
  ${PROJECT_BINARY_DIR}/croze-config-version.cmake DESTINATION ${package_dir})

# The way from the folder of croze.pc up to the prefix, so that the tree can be moved.
file(RELATIVE_PATH CROZE_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/croze.pc.in croze.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/croze.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
