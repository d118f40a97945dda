import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { findRepeatedListScans } from '../support/statement-plans.ts'

const countListed = (join: string) =>
  `select count(*) as n from json_each(?) as listed ${join} suppressions on suppressions.organization_id = ?
    and suppressions.channel = ? and suppressions.address = listed.value ->> 'address'`

// The setup of all tests explains each statement that has a list. These tests show that it would find a slow one.
describe('the check of the plans of all statements', () => {
  it('finds a list that is read for each row of a table', async () => {
    const [scan] = await findRepeatedListScans(countListed('join'))
    expect(scan).toMatch(/^SEARCH suppressions .* then SCAN listed VIRTUAL TABLE/)
  })

  it('accepts a list from which each row is found by an index', async () => {
    expect(await findRepeatedListScans(countListed('cross join'))).toEqual([])
  })

  it('accepts a list behind the only row of a key', async () => {
    const text = `select campaigns.id from campaigns cross join json_each(?) where campaigns.id = ?`
    expect(await findRepeatedListScans(text)).toEqual([])
  })

  it('sees the statements of the database and of its sessions', async () => {
    const readers = [env.DB, env.DB.withSession()].map((client) => Object.getPrototypeOf(client).prepare.toString())
    expect(readers.every((text) => text.includes('json_each(?'))).toBe(true)
  })
})
