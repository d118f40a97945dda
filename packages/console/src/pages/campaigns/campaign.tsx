import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Heading } from '../../parts/heading'
import { Loaded } from '../../parts/loaded'
import { Refusal } from '../../parts/refusal'
import { Time } from '../../parts/time'
import { loadWords } from '../../words'
import { CampaignActions } from './actions'
import { CampaignStatus } from './campaign-status'
import { Composer } from './composer'
import { campaignQuery } from './draft'
import { Live } from './live'
import { type CampaignDetail, pollMs } from './types'

const route = getRouteApi('/shell/editions/$edition/campaigns/$campaign')
const t = await loadWords('campaigns')

/** A campaign: its composer while it is a draft, and then what becomes of it. */
export function Campaign() {
  const { edition, campaign: id } = route.useParams()
  const { step } = route.useSearch()
  const query = useQuery({
    ...campaignQuery(id),
    refetchInterval: ({ state }) => pollMs(state.data?.data),
  })
  return (
    <Loaded query={query}>
      {({ data, etag }) => {
        const isEdited = data.status === 'draft' || (data.status === 'scheduled' && step !== undefined)
        return (
          <Stack>
            <Heading
              title={data.name}
              mark={<CampaignStatus campaign={data} />}
              facts={<CampaignFacts campaign={data} edition={edition} />}
              back={{ link: { to: '/editions/$edition/campaigns', params: { edition } }, label: t.title }}
              actions={<CampaignActions campaign={data} />}
            />
            {query.error && <Refusal error={query.error} retry={query.refetch} />}
            {isEdited && data.allowed_actions.includes('update') ? (
              <Composer key={id} campaign={data} etag={etag} />
            ) : (
              <Live campaign={data} />
            )}
          </Stack>
        )
      }}
    </Loaded>
  )
}

function CampaignFacts({ campaign, edition }: { campaign: CampaignDetail; edition: string }) {
  const { channel, segment, scheduled_at, started_at } = campaign
  return (
    <>
      {t.channels[channel]} {t.to}{' '}
      <Link className="link" to="/editions/$edition/segments/$segment" params={{ edition, segment: segment.id }}>
        {segment.name}
      </Link>
      {started_at !== null ? (
        <>
          {' '}
          · {t.startedAt} <Time at={started_at} />
        </>
      ) : (
        scheduled_at !== null && (
          <Text component="span" size="sm">
            {' '}
            · {t.scheduledFor} <Time at={scheduled_at} />
          </Text>
        )
      )}
    </>
  )
}
