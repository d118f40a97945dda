import { app, type Bindings } from './app.ts'
import { queue } from './entry/queue.ts'
import { scheduled } from './entry/scheduled.ts'

export default { fetch: app.fetch, queue, scheduled } satisfies ExportedHandler<Bindings>
