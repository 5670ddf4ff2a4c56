//go:build !linux

package plane

import "syscall"

// bound keeps a terminal's interrupt from a program: the plane is stopped in an
// orderly way.
func bound() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
