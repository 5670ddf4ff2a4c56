// Package kai lets the code of KAI Scheduler itself read the queues of a deploy
// folder and place its jobs.
//
// Its tests run a scheduling cycle as the scheduler's program does: its cache, its
// session, its default actions and plugins, its grouper of pods. The decisions of
// the cycle go to client-go's fake of an API server. The rest of a cluster (the Job
// controller, KAI's binder, the kubelet, the collector of terminated pods) is
// simulated, and does only what the comment at each part says. The tests therefore
// check the placement and the reading of queues against KAI. They do not cover KAI's
// webhooks, its operator, or timing.
//
// The code is of v0.12.0, the newest release that Go's module proxy serves. Later
// releases have a module path that the proxy does not serve, and v0.20.1, despite
// its number, is older and retracted. A folder installs a later release; the API of
// queues did not change between them.
package kai
