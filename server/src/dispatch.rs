//! Maps each request to the handler that serves it.

use std::sync::Arc;

use trace_protocol::methods::method;
use trace_protocol::{ClientRequest, RpcError};

use crate::core::Core;
use crate::ingress::Responder;
use crate::requests::{Request, ThreadRequest};

impl Core {
    /// Serves a request.
    pub(crate) async fn dispatch(self: Arc<Self>, request: ClientRequest, responder: Responder) {
        match Request::from(request) {
            Request::Thread(request) => self.serve(request, responder).await,
            Request::Service(request) => self.services.serve(request, responder, || self.gauges()).await,
        }
    }

    async fn serve(&self, request: ThreadRequest, responder: Responder) {
        use ThreadRequest as R;
        /// Sends the result of a handler, which must have the result type of the method.
        macro_rules! answer {
            ($method:ident, $result:expr) => {{
                let result = $result;
                responder.respond::<method::$method>(&result)
            }};
        }
        let id = responder.connection().id();
        match request {
            // The ingress handles `initialize`, also a second one, so none should get here.
            R::Initialize(_) => responder.refuse(&RpcError::already_initialized()),

            R::ThreadStart(params) => self.starts.start(*params, responder).await,
            R::ThreadResume(params) => self.resumes.resume(*params, responder).await,
            R::ThreadFork(params) => self.starts.fork(*params, responder).await,
            R::ThreadArchive(params) => self.archive.archive(*params, responder).await,
            R::ThreadUnarchive(params) => self.archive.unarchive(*params, responder).await,
            R::ThreadDelete(params) => self.archive.delete(*params, responder).await,
            R::ThreadNameSet(params) => self.settings.set_name(*params, responder).await,
            R::ThreadUnsubscribe(params) => answer!(ThreadUnsubscribe, self.resumes.unsubscribe(id, &params)),
            R::ThreadMetadataUpdate(params) => {
                answer!(ThreadMetadataUpdate, self.settings.update_metadata(*params).await);
            }
            R::ThreadSettingsUpdate(params) => answer!(ThreadSettingsUpdate, self.settings.update(&params)),

            R::ThreadList(params) => answer!(ThreadList, self.lists.list(&params).await),
            R::ThreadLoadedList(params) => answer!(ThreadLoadedList, self.lists.loaded(&params)),
            R::ThreadSearch(params) => answer!(ThreadSearch, self.lists.search(*params).await),

            R::ThreadRead(params) => answer!(ThreadRead, self.history.read(*params).await),
            R::ThreadTurnsList(params) => answer!(ThreadTurnsList, self.history.list_turns(*params).await),
            R::ThreadItemsList(params) => answer!(ThreadItemsList, self.history.list_items(*params).await),
            R::ThreadItemsRead(params) => answer!(ThreadItemsRead, self.history.read_items(*params).await),
            R::ThreadSearchOccurrences(params) => answer!(ThreadSearchOccurrences, self.history.search(*params).await),
            R::ThreadRevert(params) => answer!(ThreadRevert, self.history.revert(*params).await),
            R::ThreadRollback(params) => answer!(ThreadRollback, self.history.rollback(*params).await),
            R::ThreadReadStateUpdate(params) => answer!(ThreadReadStateUpdate, self.history.update_read_state(*params)),
            R::ThreadInjectItems(params) => answer!(ThreadInjectItems, self.turns.inject_items(*params)),

            R::TurnStart(params) => {
                let started = self.turns.start(*params);
                if let Ok(started) = &started {
                    self.services.account.tokens.turn_started(&started.turn.id, responder.connection());
                }
                answer!(TurnStart, started);
            }
            R::TurnSteer(params) => answer!(TurnSteer, self.turns.steer(&params)),
            R::TurnInterrupt(params) => answer!(TurnInterrupt, self.turns.interrupt(&params)),
            R::TurnSettingsUpdate(params) => answer!(TurnSettingsUpdate, self.turns.update_settings(&params)),
            R::ThreadCompactStart(params) => answer!(ThreadCompactStart, self.turns.compact(&params)),
            R::ThreadShellCommand(params) => answer!(ThreadShellCommand, self.turns.shell_command(*params)),
            R::ReviewStart(params) => {
                let started = self.turns.review(&params);
                if let Ok(started) = &started {
                    self.services.account.tokens.turn_started(&started.turn.id, responder.connection());
                }
                answer!(ReviewStart, started);
            }
            R::ThreadBackgroundTerminalsList(params) => {
                answer!(ThreadBackgroundTerminalsList, self.terminals.list(&params));
            }
            R::ThreadBackgroundTerminalsTerminate(params) => {
                answer!(ThreadBackgroundTerminalsTerminate, self.terminals.terminate(&params).await);
            }
            R::ThreadBackgroundTerminalsClean(params) => {
                answer!(ThreadBackgroundTerminalsClean, self.terminals.clean(&params).await);
            }

            R::ThreadGoalSet(params) => answer!(ThreadGoalSet, self.goals.set(*params)),
            R::ThreadGoalGet(params) => answer!(ThreadGoalGet, self.goals.get(&params)),
            R::ThreadGoalClear(params) => answer!(ThreadGoalClear, self.goals.clear(*params)),
            R::ThreadQueueAdd(params) => answer!(ThreadQueueAdd, self.queue.add(*params)),
            R::ThreadQueueList(params) => answer!(ThreadQueueList, self.queue.list(&params)),
            R::ThreadQueueUpdate(params) => answer!(ThreadQueueUpdate, self.queue.update(*params)),
            R::ThreadQueueDelete(params) => answer!(ThreadQueueDelete, self.queue.delete(&params)),
            R::ThreadQueueReorder(params) => answer!(ThreadQueueReorder, self.queue.reorder(&params)),
            R::ThreadQueueStart(params) => answer!(ThreadQueueStart, self.queue.start(&params)),

            R::TraceList(params) => answer!(TraceList, self.traces.list(*params).await),
            R::TraceRead(params) => answer!(TraceRead, self.traces.read(*params).await),
            R::TraceSubscribe(params) => self.traces.subscribe(*params, responder).await,
            R::TraceUnsubscribe(params) => answer!(TraceUnsubscribe, self.traces.unsubscribe(id, &params)),
        }
    }
}
