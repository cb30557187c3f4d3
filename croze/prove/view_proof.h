// view_proof.h -- rules about views, proven instance by instance: both sides have the same shape
// and the same element of the source in each place.
#pragma once

#include "croze/prove/function_proof.h"

namespace croze {

// Whether the rule is about views and copies of tensors.
bool is_about_views(const Rule& rule);

// Draws views of small random shapes until the rule has fired `count` times.
InstanceProof prove_views(const Rule& rule, const InstanceOptions& options = {});

}  // namespace croze
