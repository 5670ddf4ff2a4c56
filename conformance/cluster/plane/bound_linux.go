package plane

import "syscall"

// bound lets a program end with the process that started it, however that ends,
// and keeps a terminal's interrupt from it: the plane is stopped in order.
func bound() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
