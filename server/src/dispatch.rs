//! Which handler serves which method.

use std::sync::Arc;

use trace_protocol::ClientRequest;
use trace_protocol::methods::method;

use crate::core::Core;
use crate::ingress::Responder;

/// Answers with what a handler returns, whose type is the method's.
macro_rules! answer {
    ($responder:ident, $method:ident, $result:expr) => {{
        let result = $result;
        $responder.respond::<method::$method>(&result)
    }};
}

impl Core {
    /// Serves a request.
    pub(crate) async fn dispatch(self: Arc<Self>, request: ClientRequest, responder: Responder) {
        let core = &*self;
        let id = responder.connection().id();
        match request {
            // The entrance answers it; a second one is refused there too.
            ClientRequest::Initialize(_) => responder.refuse(&trace_protocol::RpcError::already_initialized()),

            ClientRequest::ThreadStart(params) => core.starts.start(*params, responder).await,
            ClientRequest::ThreadResume(params) => core.resumes.resume(*params, responder).await,
            ClientRequest::ThreadFork(params) => core.starts.fork(*params, responder).await,
            ClientRequest::ThreadArchive(params) => core.archive.archive(*params, responder).await,
            ClientRequest::ThreadUnarchive(params) => core.archive.unarchive(*params, responder).await,
            ClientRequest::ThreadDelete(params) => core.archive.delete(*params, responder).await,
            ClientRequest::ThreadNameSet(params) => core.settings.set_name(*params, responder).await,
            ClientRequest::ThreadUnsubscribe(params) => {
                answer!(responder, ThreadUnsubscribe, core.resumes.unsubscribe(id, &params));
            }
            ClientRequest::ThreadMetadataUpdate(params) => {
                answer!(responder, ThreadMetadataUpdate, core.settings.update_metadata(*params).await);
            }
            ClientRequest::ThreadSettingsUpdate(params) => {
                answer!(responder, ThreadSettingsUpdate, core.settings.update(&params));
            }

            ClientRequest::ThreadList(params) => answer!(responder, ThreadList, core.lists.list(&params).await),
            ClientRequest::ThreadLoadedList(params) => answer!(responder, ThreadLoadedList, core.lists.loaded(&params)),
            ClientRequest::ThreadSearch(params) => answer!(responder, ThreadSearch, core.lists.search(*params).await),

            ClientRequest::ThreadRead(params) => answer!(responder, ThreadRead, core.history.read(*params).await),
            ClientRequest::ThreadTurnsList(params) => {
                answer!(responder, ThreadTurnsList, core.history.list_turns(*params).await);
            }
            ClientRequest::ThreadItemsList(params) => {
                answer!(responder, ThreadItemsList, core.history.list_items(*params).await);
            }
            ClientRequest::ThreadItemsRead(params) => {
                answer!(responder, ThreadItemsRead, core.history.read_items(*params).await);
            }
            ClientRequest::ThreadSearchOccurrences(params) => {
                answer!(responder, ThreadSearchOccurrences, core.history.search(*params).await);
            }
            ClientRequest::ThreadRevert(params) => answer!(responder, ThreadRevert, core.history.revert(*params).await),
            ClientRequest::ThreadRollback(params) => {
                answer!(responder, ThreadRollback, core.history.rollback(*params).await);
            }
            ClientRequest::ThreadReadStateUpdate(params) => {
                answer!(responder, ThreadReadStateUpdate, core.history.update_read_state(*params));
            }
            ClientRequest::ThreadInjectItems(params) => {
                answer!(responder, ThreadInjectItems, core.turns.inject_items(*params));
            }

            ClientRequest::TurnStart(params) => answer!(responder, TurnStart, core.turns.start(*params)),
            ClientRequest::TurnSteer(params) => answer!(responder, TurnSteer, core.turns.steer(&params)),
            ClientRequest::TurnInterrupt(params) => answer!(responder, TurnInterrupt, core.turns.interrupt(&params)),
            ClientRequest::TurnSettingsUpdate(params) => {
                answer!(responder, TurnSettingsUpdate, core.turns.update_settings(&params));
            }
            ClientRequest::ThreadCompactStart(params) => {
                answer!(responder, ThreadCompactStart, core.turns.compact(&params));
            }
            ClientRequest::ThreadShellCommand(params) => {
                answer!(responder, ThreadShellCommand, core.turns.shell_command(*params));
            }
            ClientRequest::ReviewStart(params) => answer!(responder, ReviewStart, core.turns.review(&params)),
            ClientRequest::ThreadBackgroundTerminalsList(params) => {
                answer!(responder, ThreadBackgroundTerminalsList, core.terminals.list(&params));
            }
            ClientRequest::ThreadBackgroundTerminalsTerminate(params) => {
                answer!(responder, ThreadBackgroundTerminalsTerminate, core.terminals.terminate(&params).await);
            }
            ClientRequest::ThreadBackgroundTerminalsClean(params) => {
                answer!(responder, ThreadBackgroundTerminalsClean, core.terminals.clean(&params).await);
            }

            ClientRequest::ThreadGoalSet(params) => answer!(responder, ThreadGoalSet, core.goals.set(*params)),
            ClientRequest::ThreadGoalGet(params) => answer!(responder, ThreadGoalGet, core.goals.get(&params)),
            ClientRequest::ThreadGoalClear(params) => answer!(responder, ThreadGoalClear, core.goals.clear(*params)),
            ClientRequest::ThreadQueueAdd(params) => answer!(responder, ThreadQueueAdd, core.queue.add(*params)),
            ClientRequest::ThreadQueueList(params) => answer!(responder, ThreadQueueList, core.queue.list(&params)),
            ClientRequest::ThreadQueueUpdate(params) => {
                answer!(responder, ThreadQueueUpdate, core.queue.update(*params));
            }
            ClientRequest::ThreadQueueDelete(params) => {
                answer!(responder, ThreadQueueDelete, core.queue.delete(&params));
            }
            ClientRequest::ThreadQueueReorder(params) => {
                answer!(responder, ThreadQueueReorder, core.queue.reorder(&params));
            }
            ClientRequest::ThreadQueueStart(params) => answer!(responder, ThreadQueueStart, core.queue.start(&params)),

            ClientRequest::TraceList(params) => answer!(responder, TraceList, core.traces.list(*params).await),
            ClientRequest::TraceRead(params) => answer!(responder, TraceRead, core.traces.read(*params).await),
            ClientRequest::TraceSubscribe(params) => {
                core.traces.subscribe(*params, responder).await;
            }
            ClientRequest::TraceUnsubscribe(params) => {
                answer!(responder, TraceUnsubscribe, core.traces.unsubscribe(id, &params));
            }
            other => core.services.serve(other, responder, || core.gauges()).await,
        }
    }
}
