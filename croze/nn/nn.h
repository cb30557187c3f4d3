// nn.h -- models and their training: layers, state, optimizers, captured steps.
#pragma once

#include "croze/jit/capture.h"
#include "croze/nn/layers.h"
#include "croze/nn/optim/adam.h"
#include "croze/nn/optim/gradients.h"
#include "croze/nn/optim/lamb.h"
#include "croze/nn/optim/lars.h"
#include "croze/nn/optim/loss_scale.h"
#include "croze/nn/optim/muon.h"
#include "croze/nn/optim/schedule.h"
#include "croze/nn/optim/sgd.h"
#include "croze/nn/recurrent.h"
#include "croze/nn/state.h"
#include "croze/nn/summary.h"
