import { hostileTemplates } from '../../test/support/hostile-templates.ts'
import { ApiError } from '../support/client.ts'
import { create, createPlace } from '../support/place.ts'
import { median, printHead, printRatio, rounds, withBench } from './support.ts'

export const summary = 'Previews hostile templates beside a plain text of the same length'

const hostileCount = 10
const textLength = 19_900
const sentence = 'The gates open at ten, and there is music until the sun goes down. '
const plainText = sentence.repeat(Math.floor(textLength / sentence.length))

/** Recently parsed texts are cached, so each preview gets its own text. */
let nextText = 0

export const run = (): Promise<void> =>
  withBench({}, async ({ client }) => {
    const place = await createPlace(client, 'Bench')
    const fields = { title: 'News', subject: { en: 'News' }, type: 'campaign' }
    const id = await create(client, '/v1/email-messages', { ...place, ...fields })
    /** Milliseconds until the text is shown or refused. */
    const preview = async (text: string): Promise<number> => {
      const blocks = [{ type: 'rich_text', data: { text: { en: `${text} ${nextText++}` } } }]
      const startedAt = performance.now()
      await client.post(`/v1/email-messages/${id}/preview`, { blocks }).catch((error: unknown) => {
        if (!(error instanceof ApiError) || error.problem.status !== 400) throw error
      })
      return performance.now() - startedAt
    }
    const measure = async (text: string): Promise<number> => {
      const times: number[] = []
      for (let round = 0; round <= rounds; round++) times.push(await preview(text))
      return median(times.slice(1))
    }
    for (let warmUp = 0; warmUp < 20; warmUp++) await preview(plainText)
    const floor = await measure(plainText)
    const results: { name: string; service: number }[] = []
    for (const [name, text] of Object.entries(hostileTemplates)) results.push({ name, service: await measure(text) })
    const slowest = results.toSorted((a, b) => b.service - a.service).slice(0, hostileCount)
    printHead(`The ${hostileCount} slowest of ${results.length} hostile templates; the floor previews plain text`)
    for (const { name, service } of slowest) printRatio(name.slice(0, 40), 'ms', { service, floor })
  })
