import { Badge } from '@mantine/core'

/** The meaning of a state for the person: `good` is done, `wait` goes on by itself, `act` waits for somebody, `bad` failed. */
export type Tone = 'good' | 'wait' | 'act' | 'bad' | 'none'

const colours: Record<Tone, string> = {
  good: 'teal.6',
  wait: 'blue.6',
  act: 'yellow.6',
  bad: 'red.6',
  none: 'gray.6',
}

/** A dot and the word in the text's colour: Mantine's `light` badges miss 4.5:1 in teal and yellow. */
export const Status = ({ tone, label }: { tone: Tone; label: string }) => (
  <Badge variant="dot" color={colours[tone]} tt="none" fw={500} size="md" miw="max-content">
    {label}
  </Badge>
)
