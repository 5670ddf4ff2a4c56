package plane

import "syscall"

// bound makes a program end when the process that started it ends for any reason,
// and keeps a terminal's interrupt from the program: the plane is stopped in an
// orderly way.
func bound() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
