import { cleanText, type Output, toJson } from '../output.ts'
import type { Attempt, Report } from './forwarder.ts'
import type { LocalEvent } from './post.ts'

const kindWidth = 27

const formatTime = (): string => new Date().toTimeString().slice(0, 8)

const formatEvent = ({ kind, id }: LocalEvent): string =>
  `${formatTime()}  ${cleanText(kind).padEnd(kindWidth)}  ${cleanText(id)}`

function formatAttempt({ event, number, status, error, ms, retryInSeconds }: Attempt): string {
  const result = status === null ? cleanText(error ?? '') : String(status)
  const next = retryInSeconds === null ? '' : `  again in ${retryInSeconds} s`
  return `${formatEvent(event)}  ${result}  ${ms} ms${number === null ? '  sent again' : ''}${next}`
}

const chooseResult = ({ isDelivered }: Attempt): string => (isDelivered ? 'delivered' : 'failed')

/** Prints a line for each post: for a person on a terminal, and JSON otherwise. */
export function createReport({ isTable }: Output): Report {
  const print = (text: string, value: object) =>
    void process.stdout.write(`${isTable ? text : toJson({ time: new Date().toISOString(), ...value })}\n`)
  return {
    attempt: (attempt) => {
      const { event, number, status, error, ms, retryInSeconds } = attempt
      const { kind, id } = event
      print(formatAttempt(attempt), {
        kind,
        id,
        result: chooseResult(attempt),
        attempt: number,
        status,
        ms,
        error,
        retry_in_seconds: retryInSeconds,
      })
    },
    skip: (event) => print(`${formatEvent(event)}  skipped`, { kind: event.kind, id: event.id, result: 'skipped' }),
  }
}
