package stat

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Quantile returns the p-quantile of Student's t, 0 < p < 1 and df > 0.
func Quantile(p, df float64) float64 {
	t := distuv.StudentsT{Sigma: 1, Nu: df}
	switch {
	case p < 0.5:
		return -Quantile(1-p, df)
	case p == 0.5:
		return 0
	case df < 3 || p > 1-1e-9:
		return t.Quantile(p)
	}
	x := hill(2*(1-p), df)
	return x + (p-t.CDF(x))/t.Prob(x) // one step of Newton's method
}

// hill returns the t that is exceeded in either direction with the chance p, to about six digits (Hill 1970, algorithm 396).
func hill(p, n float64) float64 {
	a := 1 / (n - 0.5)
	b := 48 / (a * a)
	c := ((20700*a/b-98)*a-16)*a + 96.36
	d := ((94.5/(b+c)-3)/b + 1) * math.Sqrt(a*math.Pi/2) * n
	y := math.Pow(d*p, 2/n)
	if y <= 0.05+a {
		y = ((1/(((n+6)/(n*y)-0.089*d-0.822)*(n+2)*3)+0.5/(n+4))*y-1)*(n+1)/(n+2) + 1/y
		return math.Sqrt(n * y)
	}
	x := distuv.UnitNormal.Quantile(p / 2)
	y = x * x
	if n < 5 {
		c += 0.3 * (n - 4.5) * (x + 0.6)
	}
	c = (((0.05*d*x-5)*x-7)*x-2)*x + b + c
	y = (((((0.4*y+6.3)*y+36)*y+94.5)/c-y-3)/b + 1) * x
	return math.Sqrt(n * math.Expm1(a*y*y))
}
