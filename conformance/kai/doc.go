// Package kai lets the code of KAI Scheduler itself read the queues of a deploy
// folder and place its jobs.
//
// Its tests run a scheduling cycle as the scheduler's program does: its cache, its
// session, its default actions and plugins, its grouper of pods. What the cycle
// decides goes to client-go's fake of an API server; the rest of a cluster (the
// Job controller, KAI's binder, the kubelet, the collector of terminated pods) is
// played, and does what is written at it and no more. So this holds the placement
// and the reading of queues against KAI; it says nothing of its webhooks, its
// operator or the time that things take.
//
// The code is of v0.12.0, the newest release that Go's module proxy serves: later
// ones have a module path that it does not, and v0.20.1, for all its number, is
// older and retracted. A folder installs a later one; the API of queues did not
// change between them.
package kai
