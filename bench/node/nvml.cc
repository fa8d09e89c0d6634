// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/node/nvml.h"

#include <dlfcn.h>

namespace assay {

Nvml::Nvml(void* library) : library_(library) {
#define ASSAY_NVML_RESOLVE(name, parameters) \
  name = reinterpret_cast<decltype(name)>(dlsym(library_, #name));
  ASSAY_NVML_FUNCTIONS(ASSAY_NVML_RESOLVE)
#undef ASSAY_NVML_RESOLVE
  error_string_ = reinterpret_cast<decltype(error_string_)>(dlsym(library_, "nvmlErrorString"));
}

Nvml::~Nvml() {
  if (initialised_ && nvmlShutdown != nullptr) (void)nvmlShutdown();
  dlclose(library_);
}

std::shared_ptr<const Nvml> Nvml::open(std::string* why) {
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = dlerror();
    const std::string text = reason != nullptr ? reason : "";
    *why = text.find("No such file") == std::string::npos ? text : "libnvidia-ml.so.1 not found";
    return nullptr;
  }
  std::shared_ptr<Nvml> nvml(new Nvml(library));
  *why = nvml->call(nvml->nvmlInit_v2, "nvmlInit_v2");
  if (!why->empty()) return nullptr;
  nvml->initialised_ = true;
  return nvml;
}

std::string Nvml::error_text(nvml_abi::Return code) const {
  if (error_string_ != nullptr) {
    if (const char* text = error_string_(code)) return text;
  }
  return "error " + std::to_string(code);
}

}  // namespace assay
