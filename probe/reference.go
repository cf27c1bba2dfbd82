package probe

// A Reference is a machine whose timers were published: the 90th percentile of setTimeout(0) and of setTimeout(50), delay
// included, in s.
type Reference struct {
	Name  string  `json:"name"`
	Short float64 `json:"short"`
	Long  float64 `json:"long"`
}

// References are the machines of the comparison that made the authors of Meteor's performance suite leave the laptop.
func References() []Reference {
	return []Reference{
		{"VirtualBox on a MacBook", 0.005, 0.060},
		{"the MacBook itself", 0.003, 0.056},
		{"the smallest DigitalOcean droplet", 0.002, 0.052},
	}
}
