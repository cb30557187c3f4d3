// page.cpp -- index.html: page.html with the name of the model.
#include "croze/export/webgpu/texts.h"

namespace croze {

std::string_view webgpu_page();  // page.html

namespace web {

std::string page_text(const WebModel& model) {
  constexpr std::string_view place = "@NAME@";
  std::string text(webgpu_page());
  for (std::size_t at = text.find(place); at != text.npos; at = text.find(place, at)) {
    text.replace(at, place.size(), model.name);
  }
  return text;
}

}  // namespace web
}  // namespace croze
