// Figures of the bias within blocks that an audit finds.
#pragma once

#include "plots/gnuplot.h"
#include "plots/model.h"
#include "src/audit/audit.h"

#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace skid::plots {

enum class AuditKind {
  blocks,  ///< the samples of each instruction of a block, and the even count
  ratios,  ///< how many instructions have which multiple of their block's even count
};
inline constexpr std::array kAuditKinds{AuditKind::blocks, AuditKind::ratios};

/// "blocks"
std::string_view name_of(AuditKind kind);
std::optional<AuditKind> audit_kind_from(std::string_view name);

/// Not yet laid out. Throws Error where no block was judged.
Figure audit_figure(const std::vector<audit::Audit>& audits, AuditKind kind);

/// Draws it into the files. Throws as write_figure() does, too.
void draw_audit(const std::vector<audit::Audit>& audits, AuditKind kind, const FigureFiles& files);

}  // namespace skid::plots
