// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// One list of fields a struct, used for writing and for reading.
//
//   struct Work {
//     double bytes = 0;
//     std::string pipe;
//     template <class Self, class Archive>
//     static void fields(Self& self, Archive& archive) {
//       archive("bytes", self.bytes);
//       archive("pipe", self.pipe);
//     }
//   };
//   Json json = to_json_value(work);
//   Work copy = from_json_value<Work>(json, "work");   // "work.pipe: expected a string"
//
// An enumeration takes part through `constexpr auto enum_names(E)`, an array of {value, name}.
// std::optional is null when empty. A field that is missing keeps its default when it is optional,
// a container or Json, and is an error otherwise; unknown fields are ignored, so that an older
// program reads a newer report of the same schema version.
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "reports/error.h"
#include "reports/json.h"

namespace assay {

template <class E>
using EnumName = std::pair<E, const char*>;

template <class E>
concept NamedEnum = std::is_enum_v<E> && requires(E e) { enum_names(e); };

template <NamedEnum E>
[[nodiscard]] std::string to_string(E value) {
  for (const auto& [candidate, name] : enum_names(value)) {
    if (candidate == value) return name;
  }
  throw Error(ExitCode::kMeasurement, "enumeration value without a name");
}

template <NamedEnum E>
[[nodiscard]] std::optional<E> parse_enum(std::string_view text) {
  for (const auto& [value, name] : enum_names(E{})) {
    if (text == name) return value;
  }
  return std::nullopt;
}

namespace json_fields_detail {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsMap : std::false_type {};
template <class T>
struct IsMap<std::map<std::string, T>> : std::true_type {};

[[noreturn]] inline void fail(const std::string& path, const std::string& what) {
  throw Error(ExitCode::kUsage, path + ": " + what);
}

}  // namespace json_fields_detail

template <class T>
[[nodiscard]] Json to_json_value(const T& value);

struct JsonWriter {
  Json& out;
  template <class T>
  void operator()(const char* key, const T& value) {
    out[key] = to_json_value(value);
  }
};

template <class T>
Json to_json_value(const T& value) {
  using namespace json_fields_detail;
  if constexpr (NamedEnum<T>) {
    return to_string(value);
  } else if constexpr (IsOptional<T>::value) {
    return value ? to_json_value(*value) : Json(nullptr);
  } else if constexpr (IsVector<T>::value) {
    Json array = Json::array();
    for (const auto& item : value) array.push_back(to_json_value(item));
    return array;
  } else if constexpr (IsMap<T>::value) {
    Json object = Json::object();
    for (const auto& [key, item] : value) object[key] = to_json_value(item);
    return object;
  } else if constexpr (std::is_constructible_v<Json, const T&>) {
    return Json(value);
  } else {
    Json object = Json::object();
    JsonWriter writer{object};
    T::fields(value, writer);
    return object;
  }
}

template <class T>
[[nodiscard]] T from_json_value(const Json& json, const std::string& path);

struct JsonReader {
  const Json& in;
  const std::string& path;
  template <class T>
  void operator()(const char* key, T& value) {
    using namespace json_fields_detail;
    const auto found = in.find(key);
    if (found == in.end()) {
      if constexpr (IsOptional<T>::value || IsVector<T>::value || IsMap<T>::value ||
                    std::is_same_v<T, Json>) {
        return;
      } else {
        fail(path + "." + key, "missing");
      }
    }
    value = from_json_value<T>(*found, path + "." + key);
  }
};

template <class T>
T from_json_value(const Json& json, const std::string& path) {
  using namespace json_fields_detail;
  if constexpr (std::is_same_v<T, Json>) {
    return json;
  } else if constexpr (NamedEnum<T>) {
    if (!json.is_string()) fail(path, "expected a string");
    const auto value = parse_enum<T>(json.template get_ref<const std::string&>());
    if (!value) fail(path, "unknown value '" + json.template get<std::string>() + "'");
    return *value;
  } else if constexpr (IsOptional<T>::value) {
    if (json.is_null()) return std::nullopt;
    return from_json_value<typename T::value_type>(json, path);
  } else if constexpr (IsVector<T>::value) {
    if (!json.is_array()) fail(path, "expected an array");
    T result;
    for (std::size_t i = 0; i < json.size(); ++i) {
      result.push_back(
          from_json_value<typename T::value_type>(json[i], path + "[" + std::to_string(i) + "]"));
    }
    return result;
  } else if constexpr (IsMap<T>::value) {
    if (!json.is_object()) fail(path, "expected an object");
    T result;
    for (const auto& [key, item] : json.items()) {
      result[key] = from_json_value<typename T::mapped_type>(item, path + "." + key);
    }
    return result;
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!json.is_boolean()) fail(path, "expected true or false");
    return json.template get<bool>();
  } else if constexpr (std::integral<T>) {
    if (!json.is_number_integer()) fail(path, "expected a whole number");
    const auto in_range = [&](auto value) {
      if (!std::in_range<T>(value)) fail(path, std::to_string(value) + " is out of range");
      return static_cast<T>(value);
    };
    // Read at full width: the library would cut off what does not fit.
    return json.is_number_unsigned() ? in_range(json.template get<std::uint64_t>())
                                     : in_range(json.template get<std::int64_t>());
  } else if constexpr (std::floating_point<T>) {
    if (!json.is_number()) fail(path, "expected a number");
    return json.template get<T>();
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!json.is_string()) fail(path, "expected a string");
    return json.template get<std::string>();
  } else {
    if (!json.is_object()) fail(path, "expected an object");
    T result;
    JsonReader reader{json, path};
    T::fields(result, reader);
    return result;
  }
}

}  // namespace assay
