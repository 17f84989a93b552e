"""`Parts`: what an engine is made of, each made with those that it needs.

    store, options -> clock, views and their processing, windows -> Served and Steps

Place: `Engine` makes one and answers with it.
"""

from gateway.engine.compound.event_view import EventView
from gateway.engine.delayed import DelayedUpdates
from gateway.engine.delivery import Delivery, Listener
from gateway.engine.options import EngineOptions
from gateway.engine.serving.served import Served
from gateway.engine.serving.steps import Steps
from gateway.engine.statistics import EngineStatistics
from gateway.engine.subscriptions import Subscriptions
from gateway.engine.views.entailed_view import EntailedView
from gateway.engine.views.processings import Processings
from gateway.engine.windowed.declared import read_declared
from gateway.engine.windowed.windowed_view import WindowedView
from gateway.engine.workers.workers import WorkerCount
from gateway.store.clock import Clock
from gateway.store.quad_store import QuadStore


class Parts:
    """`view` is the entailed one, None where nothing is reasoned on; `workers` None without any."""

    def __init__(
        self,
        store: QuadStore,
        workers: WorkerCount,
        options: EngineOptions,
        on_notification: Listener | None,
    ) -> None:
        """Raises ValueError for a number of workers that is none, StorageError."""
        self.statistics = EngineStatistics()
        self.clock = store.clock = Clock(options.clock)
        self.subscriptions = Subscriptions()
        self.delivery = Delivery(self.subscriptions, on_notification)
        self.delayed = DelayedUpdates(store)
        processings = Processings(workers, options, self.statistics, self.delivery)
        self.asserted, self.workers = processings.open(store)
        store.attach_cache(self.asserted.tables)
        self.asserted.watch(self.delayed)
        told = (self.statistics, self.subscriptions, self.delivery)
        self.windowed = WindowedView(store, options, *told)
        self.windowed.declare(read_declared(store))
        self.events = EventView(options.limits, *told)
        self.view: EntailedView | None = None
        if options.reasoning is not None:
            beside = (self.asserted, self.subscriptions, processings)
            self.view = self.windowed.entailed = EntailedView(store, options.reasoning, *beside)
        self.served = self._served(options)
        self.steps = self._steps(store)

    def _served(self, options: EngineOptions) -> Served:
        return Served(
            self.clock,
            options.limits,
            self.delivery,
            self.subscriptions,
            asserted=self.asserted,
            windows=self.windowed,
            events=self.events,
            view=self.view,
        )

    def _steps(self, store: QuadStore) -> Steps:
        return Steps(
            store,
            self.clock,
            self.statistics,
            self.delayed,
            self.subscriptions,
            self.delivery,
            self.asserted,
            self.workers,
            self.view,
            self.windowed,
            self.events,
        )
