import { List, SimpleGrid, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { get, type Schema } from '../../api'
import { useEditionId } from '../../caller'
import { Facts } from '../../parts/facts'
import { Section } from '../../parts/section'
import { Time } from '../../parts/time'
import { formatCount, loadWords, plural } from '../../words'

const t = await loadWords('segments')
const maxCampaigns = 5

type Segment = Schema['Segment']

/** Counts the members, and the people who are left out by reason, and lists the campaigns of the segment. */
export const Audience = ({ segment }: { segment: Segment }) => (
  <SimpleGrid cols={{ base: 1, md: 2 }} spacing="sm" verticalSpacing="sm">
    <Numbers segment={segment} />
    <Uses segment={segment} />
  </SimpleGrid>
)

function Numbers({ segment }: { segment: Segment }) {
  const reasons = Object.entries(segment.excluded) as [keyof Segment['excluded'], number][]
  const excluded = reasons.reduce((sum, [, count]) => sum + count, 0)
  return (
    <Section title={t.members}>
      <Text fz={32} fw={700} lh={1.1}>
        {segment.calculated_at === null ? '–' : formatCount(segment.user_count)}
      </Text>
      <Text size="sm" c="dimmed">
        {segment.calculated_at === null ? (
          t.notCalculated
        ) : (
          <>
            {t.calculated} <Time at={segment.calculated_at} age />
          </>
        )}
      </Text>
      {excluded > 0 && (
        <>
          <Text size="sm" fw={600} mt="xs">
            {plural(excluded, t.excludedCount)}
          </Text>
          <Facts
            facts={reasons.map(([reason, count]) => [t.excluded[reason], count === 0 ? null : formatCount(count)])}
          />
        </>
      )}
    </Section>
  )
}

function Uses({ segment }: { segment: Segment }) {
  const edition = useEditionId() ?? ''
  const query = { segment_id: segment.id, ordering: ['-created' as const], page_size: maxCampaigns }
  const campaigns = useQuery({
    ...get('/v1/campaigns', { params: { query } }),
    enabled: segment.campaigns_count > 0,
  })
  const others = segment.campaigns_count - (campaigns.data?.results.length ?? 0)
  return (
    <Section title={t.usedIn}>
      {segment.campaigns_count === 0 ? (
        <Text size="sm" c="dimmed">
          {t.unused}
        </Text>
      ) : (
        <List size="sm" spacing={4}>
          {campaigns.data?.results.map(({ id, name }) => (
            <List.Item key={id} className="break">
              <Link className="link" to="/editions/$edition/campaigns/$campaign" params={{ edition, campaign: id }}>
                {name}
              </Link>
            </List.Item>
          ))}
          {campaigns.data && others > 0 && <List.Item>{plural(others, t.moreCampaigns)}</List.Item>}
        </List>
      )}
    </Section>
  )
}
