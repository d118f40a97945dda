import { Group, Progress, Text } from '@mantine/core'
import { Link, type LinkProps } from '@tanstack/react-router'
import { formatCount } from '../words'

interface StatePart {
  key: string
  label: string
  count: number
  /** A colour of the theme, such as `teal.7`. */
  colour: string
  /** The list of what this part counts. */
  link?: LinkProps | undefined
}

interface Props {
  parts: readonly StatePart[]
  total: number
  /** The total in words, such as "18 recipients": the sum of the numbers beside it. */
  totalLabel?: string
  /** False shows the bar alone, such as in a list. */
  hasLegend?: boolean
  size?: number
}

/** A bar whose parts add up to the total, with their numbers below. */
export function StateBar({ parts, total, totalLabel, hasLegend = true, size = 14 }: Props) {
  const text = parts.map(({ label, count }) => `${label} ${formatCount(count)}`).join(', ')
  return (
    <>
      <Progress.Root size={size} radius="sm" role="img" aria-label={text}>
        {parts
          .filter(({ count }) => count > 0)
          .map(({ key, count, colour }) => (
            <Progress.Section
              key={key}
              value={(100 * count) / Math.max(1, total)}
              color={colour}
              aria-hidden
              role="none"
            />
          ))}
      </Progress.Root>
      {hasLegend && (
        <Group gap="sm" mt="xs">
          {parts.map((part) => (
            <LegendItem key={part.key} part={part} />
          ))}
          {totalLabel !== undefined && (
            <Text size="sm" component="span" c="dimmed">
              = {totalLabel}
            </Text>
          )}
        </Group>
      )}
    </>
  )
}

function LegendItem({ part: { label, count, colour, link } }: { part: StatePart }) {
  const text = (
    <>
      {label} <b>{formatCount(count)}</b>
    </>
  )
  const [name, shade] = colour.split('.')
  return (
    <Group gap={6} wrap="nowrap">
      <span className="swatch" aria-hidden style={{ background: `var(--mantine-color-${name}-${shade})` }} />
      <Text size="sm" component="span">
        {link && count > 0 ? (
          <Link className="link" {...link}>
            {text}
          </Link>
        ) : (
          text
        )}
      </Text>
    </Group>
  )
}
