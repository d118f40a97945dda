import { app, type Bindings } from './app.ts'
import { scheduled } from './entry/scheduled.ts'

export default { fetch: app.fetch, scheduled } satisfies ExportedHandler<Bindings>
