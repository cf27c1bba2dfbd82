package meter

import "github.com/google/go-cmp/cmp/cmpopts"

// close6 takes numbers for equal that differ by a millionth.
var close6 = cmpopts.EquateApprox(0, 1e-6)
