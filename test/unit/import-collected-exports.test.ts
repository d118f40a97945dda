import { describe, expect, it } from 'vitest'
import { heldBackHeaders } from '../support/import-mapping/collected/held-back.ts'
import { tunedHeaders } from '../support/import-mapping/collected/tuned.ts'
import { buildExport } from '../support/import-mapping/export-headers.ts'
import { scoreColumns } from '../support/import-mapping/exports.ts'
import { rememberedExports } from '../support/import-mapping/remembered-exports.ts'

const percent = (part: number, all: number): number => Math.round((part / all) * 1000) / 10

describe.each([
  ['headers of public exports that suggestions were tuned on', tunedHeaders],
  ['held-back headers of public exports', heldBackHeaders],
  ['headers that were written down from memory', rememberedExports],
])('suggestions for %s', (name, files) => {
  const columns = files.flatMap((file) =>
    scoreColumns(buildExport(file)).map((column) => ({ about: file.about, ...column })),
  )
  const expected = columns.filter(({ rightTargets }) => !rightTargets.includes(null))
  const suggested = columns.filter((column) => column.suggested !== null)
  const wrong = suggested.filter(({ isRight }) => !isRight)

  it('find the right target for 90 % of the columns that have one', () => {
    const right = percent(expected.filter(({ isRight }) => isRight).length, expected.length)
    console.info(`${name}: ${right} % of ${expected.length} columns with a target are right.`)
    expect(files.length).toBeGreaterThanOrEqual(30)
    expect(right).toBeGreaterThanOrEqual(90)
  })

  it('are wrong for fewer than 2 % of the columns with a suggestion', () => {
    console.info(`${name}: ${percent(wrong.length, suggested.length)} % of ${suggested.length} suggestions are wrong.`)
    expect(percent(wrong.length, suggested.length)).toBeLessThan(2)
  })

  it('never take something else for the id of the order, because its rows would become wrong orders', () => {
    const wrongIds = wrong.filter((column) => column.suggested === 'order.external_id')
    expect(wrongIds.map(({ about, header }) => `${about}: ${header}`)).toEqual([])
  })
})
