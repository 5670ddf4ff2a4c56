package plane

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// process is one program of the plane.
type process struct {
	name string
	log  string
	cmd  *exec.Cmd
	done chan struct{} // closed once it has ended
}

// start starts a program. Its output goes to NAME.log in the plane's folder.
func (p *Plane) start(name string, args ...string) (*process, error) {
	return p.startWith(nil, name, args...)
}

// startWith is start with additional variables in the environment of the program.
func (p *Plane) startWith(variables []string, name string, args ...string) (*process, error) {
	log, err := os.Create(filepath.Join(p.dir, name+".log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(filepath.Join(p.Bin(), name), args...)
	cmd.Dir = p.dir
	cmd.Env = append(append(os.Environ(), "KUBECONFIG="+p.Kubeconfig), variables...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = bound()
	started := &process{name, log.Name(), cmd, make(chan struct{})}
	running := make(chan error)
	go func() {
		// The kernel binds the program to the thread that started it, so the thread must
		// not end.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		running <- err
		if err == nil {
			cmd.Wait()
			close(started.done)
		}
	}()
	if err := <-running; err != nil {
		return nil, err
	}
	p.processes = append(p.processes, started)
	return started, nil
}

// stop stops a program: first politely, after two seconds by force.
func (s *process) stop() {
	s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.done:
	case <-time.After(2 * time.Second):
		s.cmd.Process.Kill()
		<-s.done
	}
}

// end stops a program while the plane continues.
func (p *Plane) end(s *process) {
	s.stop()
	p.processes = slices.DeleteFunc(p.processes, func(other *process) bool { return other == s })
}

// ended returns the error for a program that ended unexpectedly, with the end of
// its log.
func (s *process) ended() error {
	select {
	case <-s.done:
		return fmt.Errorf("%s ended: %v\n%s", s.name, s.cmd.ProcessState, tail(s.log))
	default:
		return nil
	}
}

func tail(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-3000):])
}
