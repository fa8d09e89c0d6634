// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/report.h"

#include <algorithm>

namespace assay {
namespace {

// The members of "assay", in the order in which they are written: the summary first, so that a
// reader of thousands of reports can stop early.
template <class Self, class Archive>
void assay_fields(Self& self, Archive& archive) {
  archive("schema_version", self.schema_version);
  archive("complete", self.complete);
  archive("version", self.version);
  archive("command", self.command);
  archive("suite", self.suite);
  archive("started", self.started);
  archive("duration_s", self.duration_s);
  archive("busy_s", self.busy_s);
  archive("idle_s", self.idle_s);
  archive("redacted", self.redacted);
  archive("verdict", self.verdict);
  archive("faults", self.faults);
  archive("plan", self.plan);
  archive("notes", self.notes);
  archive("records", self.records);
  archive("l2_knees", self.l2_knees);
  archive("targets", self.targets);
  archive("limits", self.limits);
  archive("samples_sha256", self.samples_sha256);
  archive("samples_bytes", self.samples_bytes);
}

}  // namespace

const GpuInventory* find_gpu(const Report& report, std::string_view uuid) {
  const auto found = std::ranges::find(report.inventory.gpus, uuid, &GpuInventory::uuid);
  return found == report.inventory.gpus.end() ? nullptr : &*found;
}

const Record* find_record(const Report& report, std::string_view id, std::string_view uuid) {
  const auto found = std::ranges::find_if(report.records, [&](const Record& record) {
    return record.id == id && record.device.uuid == uuid;
  });
  return found == report.records.end() ? nullptr : &*found;
}

Json to_json_value(const Report& report) {
  Json body = Json::object();
  JsonWriter writer{body};
  assay_fields(report, writer);
  Json json = Json::object();
  json["assay"] = std::move(body);
  json["context"] = report.context;
  json["inventory"] = to_json_value(report.inventory);
  json["benchmarks"] = report.benchmarks;
  return json;
}

Report report_from_json(const Json& json, const std::string& source) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ExitCode::kUsage, source + ": " + what);
  };
  if (!json.is_object() || !json.contains("assay") || !json["assay"].is_object()) {
    refuse("not a report of this suite: no object 'assay'");
  }
  const Json& body = json["assay"];
  if (!body.contains("schema_version") || !body["schema_version"].is_number_integer()) {
    refuse("assay.schema_version: missing");
  }
  const std::string path = source + ": assay";
  const int version = from_json_value<int>(body["schema_version"], path + ".schema_version");
  if (version > kSchemaVersion) {
    refuse("schema version " + std::to_string(version) + " is newer than this program's " +
           std::to_string(kSchemaVersion) + "; use a newer assay");
  }
  Report report;
  JsonReader reader{body, path};
  assay_fields(report, reader);
  for (const char* key : {"context", "inventory", "benchmarks"}) {
    if (!json.contains(key)) refuse(std::string(key) + ": missing");
  }
  report.context = json["context"];
  report.inventory = from_json_value<Inventory>(json["inventory"], source + ": inventory");
  report.benchmarks = json["benchmarks"];
  return report;
}

Report read_report(const std::filesystem::path& path) {
  return report_from_json(read_json_file(path), path.string());
}

void write_report(const std::filesystem::path& path, const Report& report) {
  write_file_atomically(path, dump_json(to_json_value(report)));
}

}  // namespace assay
