import { describe, expect, it } from 'vitest'
import { scoreColumns } from '../support/import-mapping/exports.ts'
import { buildUnseenExport, unseenExports } from '../support/import-mapping/unseen-exports.ts'

const percent = (part: number, all: number): number => Math.round((part / all) * 1000) / 10

describe('suggestions for exports whose headers were collected from public knowledge', () => {
  const columns = unseenExports.flatMap((file) =>
    scoreColumns(buildUnseenExport(file)).map((column) => ({ about: file.about, ...column })),
  )
  const expected = columns.filter(({ rightTargets }) => !rightTargets.includes(null))
  const suggested = columns.filter((column) => column.suggested !== null)

  it('find the right target for 90 % of the columns that have one', () => {
    const right = percent(expected.filter(({ isRight }) => isRight).length, expected.length)
    console.info(`${unseenExports.length} exports: ${right} % of ${expected.length} columns with a target are right.`)
    expect(unseenExports.length).toBeGreaterThanOrEqual(40)
    expect(right).toBeGreaterThanOrEqual(90)
  })

  it('are wrong for fewer than 2 % of the columns with a suggestion', () => {
    const wrong = suggested.filter(({ isRight }) => !isRight)
    console.info(`${percent(wrong.length, suggested.length)} % of ${suggested.length} suggestions are wrong.`)
    expect(percent(wrong.length, suggested.length)).toBeLessThan(2)
  })

  it('never take a ticket for an order, because then each ticket becomes an order', () => {
    const wrongIds = suggested.filter((column) => column.suggested === 'order.external_id' && !column.isRight)
    expect(wrongIds.map(({ about, header }) => `${about}: ${header}`)).toEqual([])
  })
})
