import { Group, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Schema } from '../../api'
import { findCheckLink } from '../../parts/check-link'
import { Status, type Tone } from '../../parts/status'
import { loadWords, plural } from '../../words'

const homeWords = await loadWords('home')
const editionSettingsWords = await loadWords('editionSettings')

type Check = Schema['EditionHealthCheck']

export interface Place {
  edition: string
  organization: string
}

const tones: Record<Check['severity'], Tone> = { critical: 'bad', warning: 'act', info: 'none' }

const shownObjects = 3

/** Leads to the field that mends a check, or to the page of each object. */
function CheckLinks({ check, place }: { check: Check; place: Place }) {
  const links = check.related_objects.map((object) => ({ object, link: findCheckLink(check, object, place) }))
  const pages = links.filter(({ object }) => object.type !== 'edition')
  const [first] = links
  if (pages.length === 0)
    return first?.link ? (
      <Link className="link" {...first.link}>
        {check.suggestion}
      </Link>
    ) : (
      check.suggestion
    )
  return (
    <>
      {check.suggestion}{' '}
      {pages.slice(0, shownObjects).map(({ object, link }, index) => (
        <span key={object.id}>
          {index > 0 && ', '}
          {link ? (
            <Link className="link" {...link}>
              {object.name || object.id}
            </Link>
          ) : (
            object.name || object.id
          )}
        </span>
      ))}
      {pages.length > shownObjects && ` ${plural(pages.length - shownObjects, homeWords.moreObjects)}`}
    </>
  )
}

/** A failed check with what to do, which leads to where it is mended. */
export const CheckRow = ({ check, place }: { check: Check; place: Place }) => (
  <div>
    <Group gap="xs" wrap="nowrap" align="start" justify="space-between">
      <Text size="sm" fw={500} className="break">
        {check.message}
      </Text>
      <Status tone={tones[check.severity]} label={editionSettingsWords.severities[check.severity]} />
    </Group>
    <Text size="sm" c="dimmed" component="div" className="break">
      <CheckLinks check={check} place={place} />
    </Text>
  </div>
)
