// What a page carries beside its content.
#pragma once

#include <string_view>

namespace skid::html {

/// `hash`: as a Content-Security-Policy names it (CSP level 3, "hash-source").
struct Asset {
  std::string_view text;
  std::string_view hash;
};

Asset style();
Asset script();

}  // namespace skid::html
