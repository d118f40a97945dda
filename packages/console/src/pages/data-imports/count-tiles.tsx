import { Paper, SimpleGrid, Text, UnstyledButton } from '@mantine/core'
import { formatCount } from '../../words'

interface Tile<Key extends string> {
  key: Key
  label: string
  count: number
  isBad?: boolean
}

interface Props<Key extends string> {
  label: string
  tiles: readonly Tile<Key>[]
  /** The tile whose rows the list shows. */
  value: Key | undefined
  onChange: (key: Key | undefined) => void
}

/** Numbers that are also the filter of the list below. */
export const CountTiles = <Key extends string>({ label, tiles, value, onChange }: Props<Key>) => (
  <SimpleGrid cols={{ base: 2, sm: 3, lg: tiles.length }} spacing="xs" role="group" aria-label={label}>
    {tiles.map(({ key, label: name, count, isBad = false }) => (
      <UnstyledButton key={key} aria-pressed={value === key} onClick={() => onChange(value === key ? undefined : key)}>
        <Paper withBorder px="sm" py={6} className="count-tile">
          <Text
            fz={22}
            fw={700}
            className="tile-number"
            c={isBad && count > 0 ? 'var(--mantine-color-error)' : undefined}
          >
            {formatCount(count)}
          </Text>
          <Text size="xs" c="dimmed">
            {name}
          </Text>
        </Paper>
      </UnstyledButton>
    ))}
  </SimpleGrid>
)
