import { openBench } from './bench/open.ts'

/** What the sweep of consents takes that end all at once: its longest read, and its longest transaction. */
const people = Number(process.env['PEOPLE'] ?? 100_000)
const peopleACall = 5000
const goal_ms = 300

const { client, signal, close } = await openBench('consents')

interface Sweep {
  ended: number
  ms: number
  read_ms: number
  write_ms: number
}

try {
  const { id: organization_id } = await client.post<{ id: string }>('/v1/organizations', { name: 'Bench' })
  const { id: consent_id } = await client.post<{ id: string }>('/v1/consents', {
    organization_id,
    key: 'newsletter',
    name: 'Newsletter',
    text: { en: 'Write to me.' },
    type: 'marketing',
    channels: ['email'],
    expires_after_days: 1,
  })
  for (let from = 0; from < people; from += peopleACall)
    await client.post('/floor/segments/people', { organization_id, from, count: Math.min(peopleACall, people - from) })
  await client.post('/floor/consents/due', { organization_id, consent_id })
  console.log(`${people} consents that end at once\n\nsweep   ended  longest read  longest transaction    all ms`)
  let [longest, all] = [0, 0]
  for (let sweep = 1; all < people; sweep++) {
    const { ended, ms, read_ms, write_ms } = await client.post<Sweep>('/floor/consents/sweep', {})
    const columns = [String(sweep).padStart(5), String(ended).padStart(7), String(read_ms).padStart(13)]
    console.log(`${columns.join(' ')} ${String(write_ms).padStart(20)} ${String(ms).padStart(9)}`)
    longest = Math.max(longest, read_ms, write_ms)
    all += ended
    signal.throwIfAborted()
  }
  console.log(`\nlongest: ${longest} ms, goal ${goal_ms} ms: ${longest < goal_ms ? 'met' : 'MISSED'}`)
} finally {
  await close()
}
