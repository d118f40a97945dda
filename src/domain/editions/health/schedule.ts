import { getEditionStatus, endsBeforeStart } from '../editions.ts'
import { dayMs } from '../../time/instants.ts'
import { type Check, defineChecks } from './check.ts'

const longestMs = 60 * dayMs

export const basics: readonly Check[] = defineChecks('basics', [
  {
    id: 'name_present',
    severity: 'critical',
    rule: 'The edition has a name.',
    message: 'The name is blank.',
    suggestion: 'Enter a name.',
    fails: ({ edition }) => edition.name.trim() === '',
  },
  {
    id: 'not_archived',
    severity: 'critical',
    rule: 'The edition is not archived.',
    message: 'The edition is archived.',
    suggestion: 'Take it out of the archive before publishing.',
    fails: ({ edition }) => edition.is_archived,
  },
  {
    id: 'event_linked',
    severity: 'critical',
    rule: 'The edition belongs to an event of its organisation.',
    message: 'The event is missing, or another organisation has it.',
    suggestion: 'Choose an event.',
    fails: ({ has_event }) => !has_event,
  },
])

export const schedule: readonly Check[] = defineChecks('schedule', [
  {
    id: 'dates_ordered',
    severity: 'critical',
    rule: 'The end is not before the start.',
    message: 'The end is before the start.',
    suggestion: 'Correct the dates.',
    fails: ({ edition }) => endsBeforeStart(edition),
  },
  {
    id: 'dates_set',
    severity: 'warning',
    rule: 'Start and end are set.',
    message: 'The start or the end is missing.',
    suggestion: 'Set both dates.',
    fails: ({ edition }) => edition.start_at === null || edition.end_at === null,
  },
  {
    id: 'not_in_past',
    severity: 'warning',
    rule: 'A draft lies ahead.',
    message: 'The edition is a draft, and its dates are past.',
    suggestion: 'Update the dates: a duplicate keeps those of its source.',
    fails: ({ edition, now }) => edition.is_draft && getEditionStatus(edition, now) === 'past',
  },
  {
    id: 'duration_plausible',
    severity: 'info',
    rule: 'The edition takes 60 days at most.',
    message: 'The edition takes more than 60 days.',
    suggestion: 'Check the end date.',
    fails: ({ edition: { start_at, end_at } }) => start_at !== null && end_at !== null && end_at - start_at > longestMs,
  },
  {
    id: 'timezone_set',
    severity: 'info',
    rule: 'The time zone is that of the place.',
    message: 'The time zone is UTC, which no place of this country has.',
    suggestion: 'Choose the local time zone.',
    fails: ({ edition }) => edition.timezone === 'UTC' && edition.default_country_code !== '+44',
  },
])
