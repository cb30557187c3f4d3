// texts.h -- internal to export/: the files of a model for browsers.
#pragma once

#include <string>
#include <string_view>

#include "croze/export/webgpu/model.h"

namespace croze::web {

std::string module_text(const WebModel& model);  // NAME.js
std::string types_text(const WebModel& model);   // NAME.d.ts
std::string page_text(const WebModel& model);    // index.html

// The class of arrays in JavaScript that hold elements of a dtype: integers stand for floats that
// the language lacks.
std::string_view array_class(DType t);

}  // namespace croze::web
