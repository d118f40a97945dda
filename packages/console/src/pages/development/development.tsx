import { Grid, Stack, Text } from '@mantine/core'
import { Heading } from '../../parts/heading'
import { loadWords } from '../../words'
import { ClockSection } from './clock-section'
import { Outbox } from './outbox'
import { PeopleSection } from './people-section'

const developmentWords = await loadWords('development')

/** Helps to try the service: with messages that were not sent, the clock, and the eyes of other people. */
export const Development = () => (
  <Stack gap="sm">
    <Heading title={developmentWords.title} facts={<Text size="sm">{developmentWords.hint}</Text>} />
    <Grid gap="sm">
      <Grid.Col span={{ base: 12, lg: 4 }} order={{ base: 1, lg: 2 }}>
        <Stack gap="sm">
          <ClockSection />
          <PeopleSection />
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 8 }} order={{ base: 2, lg: 1 }}>
        <Outbox />
      </Grid.Col>
    </Grid>
  </Stack>
)
