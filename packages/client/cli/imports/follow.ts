import { streamEvents } from '../../src/index.ts'
import type { Context } from '../context.ts'
import { WorkError } from '../errors.ts'
import { type DataImport, importPath, readImport } from './job.ts'

interface ImportProgress {
  progress: number
  processed_rows: number
  total_rows: number
}

/** About five minutes without a server. */
const maxLostConnections = 12

/** Shows the work of an import until nothing is running, and returns the import. */
export async function followImport(context: Context, id: string, label: string): Promise<DataImport> {
  const progress = context.output.progress(label)
  const quit = new AbortController()
  let lostConnections = 0
  const onReconnect = (error: unknown) => {
    // The service ends each stream after a while.
    if (error === null) return
    progress.update(`${label}. The connection is lost, trying again`)
    if (++lostConnections >= maxLostConnections)
      quit.abort(new WorkError('connection_lost', 'The service does not answer. Run the same command again later.'))
  }
  try {
    const init = { ...importPath({ id }), signal: quit.signal, onReconnect }
    for await (const { data } of streamEvents(context.client, '/v1/data-imports/{id}/events', init)) {
      lostConnections = 0
      if (data !== null) progress.update(`${label}: ${describe(JSON.parse(data) as ImportProgress)}`)
    }
  } finally {
    progress.stop()
  }
  return readImport({ context, id })
}

const describe = ({ progress, processed_rows, total_rows }: ImportProgress): string =>
  `${Math.floor(progress * 100)} %${total_rows > 0 ? `, ${processed_rows} of ${total_rows} rows` : ''}`
