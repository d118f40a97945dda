import { expect, it } from 'vitest'
import { runSweeps } from '../../src/entry/scheduled.ts'
import { realJob } from '../support/campaigns.ts'

it('every sweep of a minute runs, even after one that fails', async () => {
  const ran: string[] = []
  const note = (name: string) => async () => ran.push(name)
  await runSweeps(realJob(), {
    imports: note('imports'),
    failing: () => Promise.reject(new Error('It fails.')),
    refunds: note('refunds'),
  })
  expect(ran).toEqual(['imports', 'refunds'])
})
