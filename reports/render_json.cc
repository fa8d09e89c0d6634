// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/faults.h"
#include "reports/format_text.h"
#include "reports/judge.h"
#include "reports/render.h"

namespace assay {
namespace {

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json row_of(const Report& report, const Record& record) {
  Json row = Json::object();
  row["id"] = record.id;
  row["device"] = record.device.uuid;
  row["status"] = to_string(shown_status(report, record));
  row["record_status"] = to_string(record.status);
  row["metric"] = nullptr;
  for (const auto& [name, metric] : record.metrics) {
    if (!metric.primary) continue;
    row["metric"] = name;
    row["value"] = metric.values.empty() ? Json(nullptr) : Json(metric.value);
    row["ci_low"] = or_null(metric.ci_low);
    row["ci_high"] = or_null(metric.ci_high);
    row["unit"] = metric.unit;
    row["better"] = to_string(metric.better);
    break;
  }
  row["runs"] = record.runs;
  row["runs_below"] = record.judged.runs_below;
  row["floor"] = or_null(record.judged.floor);
  row["provisional"] = record.judged.provisional;
  row["share_of_datasheet"] = or_null(record.limit.share_of_datasheet);
  row["share_at_clock"] = or_null(record.limit.share_at_clock);
  row["reason"] = shown_reason(record);
  row["warnings"] = shown_warnings(record);
  return row;
}

Json row_of(const MissingRow& missing) {
  Json row = Json::object();
  row["id"] = missing.id;
  row["device"] = missing.uuid;
  row["status"] = to_string(JudgedStatus::kNotMeasured);
  row["record_status"] = nullptr;
  row["reason"] = "no record";
  return row;
}

}  // namespace

Json render_rows_json(const Report& report) {
  Json rows = Json::array();
  for (const Record& record : report.records) rows.push_back(row_of(report, record));
  if (report.verdict) {
    for (const MissingRow& missing : missing_rows(report)) rows.push_back(row_of(missing));
  }
  Json counts = Json::object();
  for (const auto& [status, name] : enum_names(JudgedStatus{})) counts[name] = 0;
  for (const Json& row : rows) {
    Json& count = counts[row["status"].get<std::string>()];
    count = count.get<int>() + 1;
  }
  Json unjudged = Json::array();
  if (report.verdict) {
    for (const UnjudgedGpu& gpu : unjudged_gpus(report)) {
      unjudged.push_back({{"device", gpu.uuid}, {"reason", gpu.reason}});
    }
  }
  Json json = Json::object();
  json["verdict"] = to_string(report.verdict ? report.verdict->status : JudgedStatus::kInfo);
  json["exit_code"] = report.verdict ? Json(report.verdict->exit_code) : Json(nullptr);
  json["summary"] = report.verdict ? report.verdict->summary : "";
  json["rows"] = std::move(rows);
  json["counts"] = std::move(counts);
  json["faults"] = to_json_value(report.faults);
  json["not_judged"] = std::move(unjudged);
  json["not_checked"] = report.verdict ? Json(not_checked(report)) : Json::array();
  return json;
}

}  // namespace assay
