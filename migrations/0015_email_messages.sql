-- E-mail messages, their images, and what they compile to.

-- Messages organizations write, and those the platform brings for them to adopt.
create table email_messages (
  id text primary key,
  organization_id text references organizations (id),
  edition_id text references editions (id),
  title text not null,
  title_key text not null,
  subject text not null default '{}' check (json_valid(subject)),
  -- The line that inboxes show after the subject.
  preheader text not null default '{}' check (json_valid(preheader)),
  type text not null,
  scope text not null,
  template text not null default 'modern',
  is_locked integer not null default 0 check (is_locked in (0, 1)),
  blocks text not null default '[]' check (json_valid(blocks)),
  -- The account that changed the message last. Null: nobody has changed it since it was created.
  modified_by text,
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null
) strict, without rowid;
-- Serves lists of an organization ordered by creation.
create index email_messages_by_created on email_messages (organization_id, created_at, id);
-- Serves lists of one type.
create index email_messages_by_type on email_messages (organization_id, type);
-- Serves lists of an edition ordered by creation.
create index email_messages_of_edition on email_messages (edition_id, created_at, id) where edition_id is not null;

-- Images of messages, one row per file id in `email_messages.blocks`, so that a file in use is found by an index and
-- not deleted.
create table email_message_images (
  message_id text not null references email_messages (id) on delete cascade,
  file_id text not null references files (id),
  primary key (message_id, file_id)
) strict, without rowid;
-- Finds what uses a file before the file is deleted.
create index email_message_images_by_file on email_message_images (file_id);

-- Compiled messages, one per message, sending edition and language. The hash covers everything that went into one.
create table email_renditions (
  message_id text not null references email_messages (id) on delete cascade,
  -- The edition that sends it; empty for none.
  edition_id text not null default '',
  language text not null,
  content_hash text not null,
  subject text not null,
  html text not null,
  text text not null,
  created_at integer not null,
  primary key (message_id, edition_id, language)
) strict, without rowid;

create trigger email_message_images_added after insert on email_messages when instr(new.blocks, '"file_id"') > 0
begin
  insert into email_message_images (message_id, file_id)
  select distinct new.id, tree.value from json_tree(new.blocks) as tree where tree.key = 'file_id' and tree.type = 'text';
end;

create trigger email_message_images_changed after update of blocks on email_messages
  when new.blocks <> old.blocks and instr(new.blocks || old.blocks, '"file_id"') > 0
begin
  delete from email_message_images where message_id = new.id;
  insert into email_message_images (message_id, file_id)
  select distinct new.id, tree.value from json_tree(new.blocks) as tree where tree.key = 'file_id' and tree.type = 'text';
end;

-- Messages the platform brings, for organizations to adopt.
insert into email_messages
  (id, organization_id, edition_id, title, title_key, subject, type, scope, template, is_locked, blocks, version,
    created_at, modified_at)
values
  (
    'eml_0000000000000000000000NEWS', null, null, 'Newsletter', 'newsletter',
    json('{
      "en": "News from {{ edition.name }}",
      "da": "Nyt fra {{ edition.name }}",
      "se": "Nytt från {{ edition.name }}",
      "nl": "Nieuws van {{ edition.name }}",
      "pl": "Nowości z {{ edition.name }}"
    }'),
    'campaign', 'platform', 'modern', 1,
    json('[
      {
        "id": "blk_00000000000000000000020000",
        "type": "heading",
        "data": {
          "text": {
            "en": "News from {{ edition.name }}",
            "da": "Nyt fra {{ edition.name }}",
            "se": "Nytt från {{ edition.name }}",
            "nl": "Nieuws van {{ edition.name }}",
            "pl": "Nowości z {{ edition.name }}"
          }
        }
      },
      {
        "id": "blk_00000000000000000000020001",
        "type": "rich_text",
        "data": {
          "text": {
            "en": "<p>Hello{% unless customer.first_name == blank %} {{ customer.first_name }}{% endunless %},</p><p>Write here what is new.</p>",
            "da": "<p>Hej{% unless customer.first_name == blank %} {{ customer.first_name }}{% endunless %},</p><p>Skriv her, hvad der er nyt.</p>",
            "se": "<p>Hej{% unless customer.first_name == blank %} {{ customer.first_name }}{% endunless %},</p><p>Skriv här vad som är nytt.</p>",
            "nl": "<p>Hallo{% unless customer.first_name == blank %} {{ customer.first_name }}{% endunless %},</p><p>Schrijf hier wat er nieuw is.</p>",
            "pl": "<p>Cześć{% unless customer.first_name == blank %} {{ customer.first_name }}{% endunless %},</p><p>Napisz tutaj, co nowego.</p>"
          }
        }
      },
      {
        "id": "blk_00000000000000000000020002",
        "type": "footer",
        "data": {
          "text": {}
        }
      }
    ]'),
    1, 1767225600000, 1767225600000
  ),
  (
    'eml_00000000000000000000REFUND', null, null, 'Refund confirmation', 'refund confirmation',
    json('{
      "en": "Your refund of {{ refund.amount }}",
      "da": "Din refusion på {{ refund.amount }}",
      "se": "Din återbetalning på {{ refund.amount }}",
      "nl": "Je terugbetaling van {{ refund.amount }}",
      "pl": "Twój zwrot {{ refund.amount }}"
    }'),
    'refund_confirmation', 'platform', 'modern', 1,
    json('[
      {
        "id": "blk_00000000000000000000010000",
        "type": "heading",
        "data": {
          "text": {
            "en": "Your refund is on its way",
            "da": "Din refusion er på vej",
            "se": "Din återbetalning är på väg",
            "nl": "Je terugbetaling is onderweg",
            "pl": "Twój zwrot jest w drodze"
          }
        }
      },
      {
        "id": "blk_00000000000000000000010001",
        "type": "rich_text",
        "data": {
          "text": {
            "en": "<p>Hello{% unless customer.first_name == blank %} {{ customer.first_name }}{% endunless %},</p><p>We have refunded <strong>{{ refund.amount }}</strong> for {% if purchase.product == blank %}order {{ order.number }} ({{ edition.name }}){% else %}{{ purchase.product }} ({{ edition.name }}, order {{ order.number }}){% endif %}.</p><p>It reaches you the way that you paid, usually within 5 to 10 working days.</p>",
            "da": "<p>Hej{% unless customer.first_name == blank %} {{ customer.first_name }}{% endunless %},</p><p>Vi har refunderet <strong>{{ refund.amount }}</strong> for {% if purchase.product == blank %}ordre {{ order.number }} ({{ edition.name }}){% else %}{{ purchase.product }} ({{ edition.name }}, ordre {{ order.number }}){% endif %}.</p><p>Pengene kommer samme vej, som du betalte, normalt inden for 5 til 10 hverdage.</p>",
            "se": "<p>Hej{% unless customer.first_name == blank %} {{ customer.first_name }}{% endunless %},</p><p>Vi har återbetalat <strong>{{ refund.amount }}</strong> för {% if purchase.product == blank %}beställning {{ order.number }} ({{ edition.name }}){% else %}{{ purchase.product }} ({{ edition.name }}, beställning {{ order.number }}){% endif %}.</p><p>Pengarna kommer samma väg som du betalade, oftast inom 5 till 10 vardagar.</p>",
            "nl": "<p>Hallo{% unless customer.first_name == blank %} {{ customer.first_name }}{% endunless %},</p><p>We hebben <strong>{{ refund.amount }}</strong> terugbetaald voor {% if purchase.product == blank %}bestelling {{ order.number }} ({{ edition.name }}){% else %}{{ purchase.product }} ({{ edition.name }}, bestelling {{ order.number }}){% endif %}.</p><p>Je krijgt het terug zoals je hebt betaald, meestal binnen 5 tot 10 werkdagen.</p>",
            "pl": "<p>Cześć{% unless customer.first_name == blank %} {{ customer.first_name }}{% endunless %},</p><p>Zwróciliśmy <strong>{{ refund.amount }}</strong> za {% if purchase.product == blank %}zamówienie {{ order.number }} ({{ edition.name }}){% else %}{{ purchase.product }} ({{ edition.name }}, zamówienie {{ order.number }}){% endif %}.</p><p>Pieniądze wrócą tą samą drogą, którą zapłacono, zwykle w ciągu 5–10 dni roboczych.</p>"
          }
        }
      },
      {
        "id": "blk_00000000000000000000010002",
        "type": "footer",
        "data": {
          "text": {},
          "show_unsubscribe": false
        }
      }
    ]'),
    1, 1767225600000, 1767225600000
  ),
  (
    'eml_0000000000000000000RECEIPT', null, null, 'Receipt', 'receipt',
    json('{
      "en": "Your order {{ order.number }}",
      "da": "Din ordre {{ order.number }}",
      "se": "Din beställning {{ order.number }}",
      "nl": "Je bestelling {{ order.number }}",
      "pl": "Twoje zamówienie {{ order.number }}"
    }'),
    'receipt', 'platform', 'modern', 1,
    json('[
      {
        "id": "blk_00000000000000000000000000",
        "type": "heading",
        "data": {
          "text": {
            "en": "Thank you for your order",
            "da": "Tak for din ordre",
            "se": "Tack för din beställning",
            "nl": "Bedankt voor je bestelling",
            "pl": "Dziękujemy za zamówienie"
          }
        }
      },
      {
        "id": "blk_00000000000000000000000001",
        "type": "rich_text",
        "data": {
          "text": {
            "en": "<p>Hello{% unless customer.first_name == blank %} {{ customer.first_name }}{% endunless %},</p><p>Your order <strong>{{ order.number }}</strong> of {{ order.date }} for {{ edition.name }} is confirmed. This message is your receipt.</p>",
            "da": "<p>Hej{% unless customer.first_name == blank %} {{ customer.first_name }}{% endunless %},</p><p>Din ordre <strong>{{ order.number }}</strong> fra {{ order.date }} til {{ edition.name }} er bekræftet. Denne besked er din kvittering.</p>",
            "se": "<p>Hej{% unless customer.first_name == blank %} {{ customer.first_name }}{% endunless %},</p><p>Din beställning <strong>{{ order.number }}</strong> från {{ order.date }} till {{ edition.name }} är bekräftad. Det här meddelandet är ditt kvitto.</p>",
            "nl": "<p>Hallo{% unless customer.first_name == blank %} {{ customer.first_name }}{% endunless %},</p><p>Je bestelling <strong>{{ order.number }}</strong> van {{ order.date }} voor {{ edition.name }} is bevestigd. Dit bericht is je bon.</p>",
            "pl": "<p>Cześć{% unless customer.first_name == blank %} {{ customer.first_name }}{% endunless %},</p><p>Twoje zamówienie <strong>{{ order.number }}</strong> z {{ order.date }} na {{ edition.name }} zostało potwierdzone. Ta wiadomość jest Twoim potwierdzeniem zakupu.</p>"
          }
        }
      },
      {
        "id": "blk_00000000000000000000000002",
        "type": "order_summary",
        "data": {}
      },
      {
        "id": "blk_00000000000000000000000003",
        "type": "rich_text",
        "data": {
          "text": {
            "en": "<p>Keep this message. If something is wrong with your order, contact {{ organization.name }}.</p>",
            "da": "<p>Gem denne besked. Kontakt {{ organization.name }}, hvis noget er galt med din ordre.</p>",
            "se": "<p>Spara det här meddelandet. Kontakta {{ organization.name }} om något är fel med din beställning.</p>",
            "nl": "<p>Bewaar dit bericht. Neem contact op met {{ organization.name }} als er iets mis is met je bestelling.</p>",
            "pl": "<p>Zachowaj tę wiadomość. Jeśli coś się nie zgadza, skontaktuj się z organizatorem: {{ organization.name }}.</p>"
          }
        }
      },
      {
        "id": "blk_00000000000000000000000004",
        "type": "footer",
        "data": {
          "text": {},
          "show_unsubscribe": false
        }
      }
    ]'),
    1, 1767225600000, 1767225600000
  );
