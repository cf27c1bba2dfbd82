package scenario

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// AppendValue appends the text that ${name} stands for within other text when the variable's value is v, a JSON value: a
// number as JSON writes it, so that a whole number has no fraction.
func AppendValue(dst []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return append(dst, v...)
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case bool:
		return strconv.AppendBool(dst, v)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Append(dst, v)
	}
	return append(dst, text...)
}
