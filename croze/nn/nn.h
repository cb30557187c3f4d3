// nn.h -- models and their training: layers, state, optimizers, captured steps.
#pragma once

#include "jit/capture.h"
#include "nn/layers.h"
#include "nn/optim/adam.h"
#include "nn/optim/sgd.h"
#include "nn/recurrent.h"
#include "nn/state.h"
