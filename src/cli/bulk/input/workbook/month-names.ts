import { addLocale, getLocale } from 'numfmt';

/** Excel has a separate language, FC19, for the months in Russian dates with a day: 15 марта, but Март alone. */
export const russianGenitive = 'ru-genitive';

addLocale(
  {
    ...getLocale('ru'),
    mmmm: [
      'января',
      'февраля',
      'марта',
      'апреля',
      'мая',
      'июня',
      'июля',
      'августа',
      'сентября',
      'октября',
      'ноября',
      'декабря',
    ],
  },
  russianGenitive,
);

// The package's own names are capitalized, and the last one is cut short.
addLocale(
  {
    ...getLocale('mn'),
    mmmm: [
      'нэгдүгээр сар',
      'хоёрдугаар сар',
      'гуравдугаар сар',
      'дөрөвдүгээр сар',
      'тавдугаар сар',
      'зургаадугаар сар',
      'долоодугаар сар',
      'наймдугаар сар',
      'есдүгээр сар',
      'аравдугаар сар',
      'арван нэгдүгээр сар',
      'арван хоёрдугаар сар',
    ],
  },
  'mn',
);
