// bessel.cpp -- the modified Bessel functions of the first kind.
#include <span>

#include "croze/tensor/elementwise/numeric.h"
#include "croze/tensor/elementwise/special.h"
#include "croze/tensor/record.h"

namespace croze {
namespace {

// Chebyshev expansions: exp(-x) I0(x) and exp(-x) I1(x) / x in x / 4 - 1 up to 8, and
// sqrt(x) exp(-x) I(x) in 16 / x - 1 from there.
constexpr double i0_near[] = {
    0.33839763720473803,     -0.30468267234319835,    0.17162090152220871,
    -0.094901097048047584,   0.049305284239670649,    -0.023737414805899412,
    0.010546460394594868,    -0.0043243099950505959,  0.001639475616941282,
    -0.00057637557453876201, 0.00018850288509609272,  -5.7541950100903737e-05,
    1.6448448070090521e-05,  -4.4167383580978958e-06, 1.1173875389405189e-06,
    -2.6707938526100592e-07, 6.0469949776350151e-08,  -1.3000249711270486e-08,
    2.6598235198107452e-09,  -5.1898004295674073e-10, 9.6758430993057734e-11,
    -1.726820189156884e-11,  2.9541642945823693e-12,  -4.8478520860847667e-13,
    7.4858060046260562e-14,  -1.1047999106376366e-14};
constexpr double i0_far[] = {
    0.40224520550705439,     0.0033691164782557377,   6.8897583469135543e-05,
    2.8913705208697069e-06,  2.0489185894873926e-07,  2.2666689952150481e-08,
    3.3962319313464859e-09,  4.9406041895433551e-10,  1.1889058788385576e-11,
    -3.1499084134623291e-11, -1.3215832116751989e-11, -1.7941002834841306e-12,
    7.1785628812617604e-13,  3.8528726515145273e-13,  1.5397474956672209e-14,
    -4.1037511300958994e-14, -1.0201893352928219e-14, 4.5727608573944433e-15,
    8.4426492574834485e-16,  -1.945643619578091e-16,  -5.025867984709255e-16,
    -1.7059310295079985e-16, -4.3823461846787305e-16, -3.1485503432800959e-16};
constexpr double i1_near[] = {
    0.12629359322181682,     -0.17641651835783401,    0.10264365868984707,
    -0.052945981208094961,   0.024726449030626485,    -0.010564084894626171,
    0.0041564229443128283,   -0.0015135724506312456,  0.00051228595616856275,
    -0.00016176081582596123, 4.7815651075634753e-05,  -1.3273163656062338e-05,
    3.4702513078402462e-06,  -8.5687202628419518e-07, 2.0032947527080522e-07,
    -4.4450591175913461e-08, 9.3815371925032412e-09,  -1.8872495895106992e-09,
    3.6255896355884083e-10,  -6.66350889805252e-11,   1.1736319147816469e-11,
    -1.9838879986055019e-12, 3.2200861720647862e-13,  -4.9997954993678356e-14,
    6.7178465261164408e-15,  -7.2251516665283245e-16};
constexpr double i1_far[] = {
    0.38928811750914005,     -0.0097610974913614253,  -0.00011058893876265693,
    -3.8825648088437745e-06, -2.5122362378726827e-07, -2.63146884221287e-08,
    -3.8353804825890713e-09, -5.5897417005497013e-10, -1.8975048737982134e-11,
    3.2526117427340256e-11,  1.4125787318597138e-11,  2.0357070741475548e-12,
    -7.2000688381630119e-13, -4.0834303988948027e-13, -2.1021197779237683e-14,
    4.3193075024034483e-14,  9.7768250201516136e-15,  -3.0546223577553613e-15,
    -2.7945858944164522e-15, 4.8720300913950043e-16,  8.777055694647386e-17,
    -2.1495325585890934e-16, -4.965696988255894e-16,  -2.7966322410169402e-16};

// exp(-a) I(a) for a >= 0.
Tensor scaled_bessel(const Tensor& a, std::span<const double> near, std::span<const double> far,
                     bool odd) {
  const auto inner = [&](const Tensor& u) {
    const Tensor value = chebyshev(u * 0.25 - 1, terms(u, near, 18));
    return odd ? u * value : value;
  };
  const auto outer = [&](const Tensor& u) {
    return chebyshev(16 / u - 1, terms(u, far, 7)) / sqrt(u);
  };
  return choose(a <= 8, a, 1, inner, 16, outer);
}

Tensor bessel(const Tensor& x, bool odd, bool scaled) {
  return in_wide_float(x, [&](const Tensor& v) {
    // Of order 0, the gradient is 0 at 0; exp(-|x|) has none there.
    const Tensor a = odd ? magnitude(v) : abs(v);
    Tensor value =
        odd ? scaled_bessel(a, i1_near, i1_far, true) : scaled_bessel(a, i0_near, i0_far, false);
    if (!scaled) value = value * exp(a);
    return odd ? with_sign_of(v, value) : value;
  });
}

}  // namespace

Tensor i0(const Tensor& x, Location at) {
  const CallScope scope("i0", at);
  return bessel(x, false, false);
}
Tensor i0e(const Tensor& x, Location at) {
  const CallScope scope("i0e", at);
  return bessel(x, false, true);
}
Tensor i1(const Tensor& x, Location at) {
  const CallScope scope("i1", at);
  return bessel(x, true, false);
}
Tensor i1e(const Tensor& x, Location at) {
  const CallScope scope("i1e", at);
  return bessel(x, true, true);
}

}  // namespace croze
